(** * The rule writes the verdict on the low parts of both numbers at every column *)

Lemma verdict_split : forall before x y a b, x < base -> y < base ->
  verdict before (x + base * a) (y + base * b) = verdict (verdict before x y) a b.
Proof.
  intros before x y a b Hx Hy. unfold verdict.
  destruct (Nat.compare_spec a b) as [E|L|G].
  - subst b. destruct (Nat.compare_spec x y) as [E'|L'|G'].
    + subst y. now rewrite Nat.compare_refl.
    + now rewrite (proj2 (Nat.compare_lt_iff _ _)) by lia.
    + now rewrite (proj2 (Nat.compare_gt_iff _ _)) by lia.
  - now rewrite (proj2 (Nat.compare_lt_iff _ _)) by nia.
  - now rewrite (proj2 (Nat.compare_gt_iff _ _)) by nia.
Qed.

Definition low (count : nat) (number : list nat) : nat := value (firstn count number).

Lemma low_split : forall count number, low (S count) number = hd 0 number + base * low count (tl number).
Proof. intros count [|d l]; unfold low; [destruct count; simpl; lia | reflexivity]. Qed.

Lemma rule_compares : forall count a b before,
  digits a -> digits b -> Nat.max (length a) (length b) = count ->
  exists s, rule_run (1, before) (columns (S count) [a; b]) = Some s /\ length s = count
    /\ forall i, i < count -> nth i s 0 = nth (verdict before (low (S i) a) (low (S i) b)) signs 0.
Proof.
  pose proof base_large as B.
  induction count as [|count IH]; intros a b before Ha Hb Hl.
  - destruct a; [|cbn [length] in Hl; lia]. destruct b; [|cbn [length] in Hl; lia].
    exists []. split; [reflexivity | split; [reflexivity | intros i H; lia]].
  - assert (Ha' : digits (tl a)) by (destruct a; simpl; [constructor | now inversion Ha]).
    assert (Hb' : digits (tl b)) by (destruct b; simpl; [constructor | now inversion Hb]).
    assert (Hx : hd 0 a < base) by (destruct a; simpl; [lia | now inversion Ha]).
    assert (Hy : hd 0 b < base) by (destruct b; simpl; [lia | now inversion Hb]).
    assert (Hl' : Nat.max (length (tl a)) (length (tl b)) = count) by (destruct a, b; simpl in *; lia).
    set (now_is := verdict before (hd 0 a) (hd 0 b)).
    destruct (IH (tl a) (tl b) now_is Ha' Hb' Hl') as [s [R [L N]]].
    exists (nth now_is signs 0 :: s). remember (S count) as more.
    assert (E : rule (1, before) [hd_error a; hd_error b] = Writes (nth now_is signs 0) (1, now_is))
      by (unfold now_is; destruct a, b; simpl in *; [lia | reflexivity | reflexivity | reflexivity]).
    cbn [columns rule_run map]. rewrite E, R. subst more.
    split; [reflexivity | split; [simpl; lia|]].
    intros [|i] H.
    + change (nth 0 (nth now_is signs 0 :: s) 0) with (nth now_is signs 0).
      rewrite (low_split 0 a), (low_split 0 b), verdict_split by assumption. reflexivity.
    + change (nth (S i) (nth now_is signs 0 :: s) 0) with (nth i s 0). rewrite N by lia. f_equal.
      rewrite (low_split (S i) a), (low_split (S i) b). now rewrite verdict_split.
Qed.

(** Sign i of the answer is the verdict on the digits 0 to i of both numbers. *)
Theorem machine_compares : forall start, In start starts -> forall a b, digits a -> digits b ->
  exists s, answer start [a; b] = Some s /\ length s = Nat.max (length a) (length b)
    /\ forall i, i < length s -> nth i s 0 = nth (verdict 0 (low (S i) a) (low (S i) b)) signs 0.
Proof.
  assert (H : forallb (fun start => means start (1, 0)) starts = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in H. intros start Hs a b Ha Hb. specialize (H start Hs).
  destruct (rule_compares _ a b 0 Ha Hb eq_refl) as [s [R [L N]]].
  exists s. split; [|split; [exact L | rewrite L; exact N]].
  unfold answer. rewrite !longest_cons. change (longest []) with 0. rewrite Nat.max_0_r.
  replace (Nat.max (length a) (length b) + room + 1) with (S (Nat.max (length a) (length b))) by (change room with 0; lia).
  apply machine_follows_rule with (m := (1, 0)); [apply columns_fine; [reflexivity | each] | exact H | exact R].
Qed.
