"""The style and the script of the page of the league."""

STYLE = """
section { margin-bottom: 3rem; }
div.filters { display: flex; flex-wrap: wrap; gap: .4rem; margin: .75rem 0; }
div.filters button { font: inherit; font-size: .9rem; color: var(--ink); background: var(--paper); cursor: pointer;
  border: 1px solid var(--line); border-radius: 1rem; padding: .3rem .8rem; min-height: 2.2rem; }
div.filters button[aria-pressed="true"] { border-color: var(--ink); background: var(--panel); font-weight: 600; }
table.league td, table.league th { white-space: nowrap; padding-left: .4rem; padding-right: .4rem; }
table.league thead th { white-space: normal; } table.league td:nth-child(4) { white-space: normal; min-width: 8rem; }
table.league .given { display: none; }
table.league td:nth-child(2), table.league th:nth-child(2) { text-align: left; }
table.league td:first-child { position: sticky; left: 0; background: var(--paper); background-clip: padding-box;
  white-space: normal; min-width: 15rem; max-width: 22rem; }
table.league td:first-child small { color: var(--soft); }
table.league th button { font: inherit; color: inherit; text-align: inherit; background: none; border: 0; padding: .3rem 0; cursor: pointer; font-weight: 600; }
table.league th[aria-sort="descending"] button::after { content: " \\2193"; }
table.league th[aria-sort="ascending"] button::after { content: " \\2191"; }
table.league tbody tr { cursor: default; } table.league tbody tr.on, table.league tbody tr.on td { background: var(--panel); }
table.league tbody.unfit td { color: var(--soft); }
table.league tbody.unfit th { text-align: left; white-space: normal; padding-top: 1.4rem; color: var(--ink); }
.dot { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; margin-right: .35rem; background: var(--own); }
div.stays { position: sticky; top: 0; z-index: 2; background: var(--paper); border-bottom: 1px solid var(--line); }
svg.curves { display: block; width: 100%; max-width: 52rem; max-height: 44vh; font-size: 13px; fill: var(--ink); }
svg.curves .grid { stroke: var(--line); stroke-width: 1; } svg.curves .edge { stroke: var(--soft); stroke-dasharray: 4 3; fill: none; }
svg.curves .line { fill: none; stroke: var(--own); stroke-width: 1.2; opacity: .5; } svg.curves .band { fill: none; }
svg.curves .curve.unfit .line { stroke: var(--soft); stroke-dasharray: 2 3; }
svg.curves.pointed .line { stroke: var(--grey); opacity: .35; }
svg.curves .curve.on .line { stroke: var(--own); stroke-width: 3.5; opacity: 1; } svg.curves .curve.on .band { fill: var(--own); opacity: .22; }
svg.curves .curve.out { display: none; }
p.shown { height: 3em; overflow-y: auto; max-width: none; font-size: .9rem; line-height: 1.5; margin: .25rem 0; }
@media (max-width: 40rem) {
  svg.curves { font-size: 21px; max-height: 34vh; } svg.curves .less { display: none; }
  p.shown { font-size: .8rem; line-height: 1.3; height: 5.2em; } table.league { font-size: .85rem; }
  table.league td:first-child { min-width: 6.5rem; } table.league td:first-child small { display: none; }
  table.league .given { display: block; color: var(--soft); font-size: .85em; } table.league td:nth-child(4) { min-width: 6rem; }
  table.league td:nth-child(2), table.league thead th:nth-child(2) { display: none; }
}
"""
SCRIPT = """<script>
for (const section of document.querySelectorAll("section.track")) {
  const bodies = [...section.querySelectorAll("tbody")], rows = bodies.flatMap(body => [...body.querySelectorAll("tr[data-entry]")]);
  const shown = section.querySelector("p.shown"), drawing = section.querySelector("svg.curves");
  const curves = new Map([...section.querySelectorAll("g.curve")].map(one => [one.dataset.entry, one]));
  const point = row => {
    for (const each of rows) {
      each.classList.toggle("on", each === row);
      curves.get(each.dataset.entry)?.classList.toggle("on", each === row);
    }
    const curve = curves.get(row.dataset.entry);
    if (curve) curve.parentNode.append(curve);
    drawing?.classList.add("pointed");
    shown.textContent = row.dataset.told;
  };
  for (const row of rows) {
    for (const name of ["mouseenter", "focus", "click"]) row.addEventListener(name, () => point(row));
    const line = curves.get(row.dataset.entry);
    for (const name of ["mouseenter", "click"]) line?.addEventListener(name, () => point(row));
  }
  const wanted = new Set();
  for (const button of section.querySelectorAll("div.filters button")) button.addEventListener("click", () => {
    const label = button.dataset.label;
    if (!wanted.delete(label)) wanted.add(label);
    for (const each of section.querySelectorAll("div.filters button")) {
      each.setAttribute("aria-pressed", wanted.has(each.dataset.label));
    }
    for (const row of rows) {
      row.hidden = wanted.size > 0 && !wanted.has(row.dataset.label);
      curves.get(row.dataset.entry)?.classList.toggle("out", row.hidden);
    }
    for (const body of bodies) body.hidden = rows.every(row => row.parentNode !== body || row.hidden);
  });
  const heads = [...section.querySelectorAll("thead th")];
  heads.forEach((head, place) => head.querySelector("button").addEventListener("click", () => {
    const text = head.dataset.kind === "text";
    const falls = head.getAttribute("aria-sort") === (text ? "ascending" : "none");
    const sign = falls ? -1 : 1;
    heads.forEach(each => each.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const value = row => row.cells[place].dataset.value;
    rows.sort((a, b) => sign * (text ? value(a).localeCompare(value(b)) : value(a) - value(b)));
    for (const row of rows) row.parentNode.append(row);
  }));
}
</script>"""
