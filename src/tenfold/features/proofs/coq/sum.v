(** * The rule computes the sum *)

Definition total (numbers : list (list nat)) : nat := list_sum (map value numbers).

Definition ends (number : list nat) : Prop := number = [] \/ last number 0 <> 0.

Lemma total_split : forall numbers,
  total numbers = sum_of (map (@hd_error nat) numbers) + base * total (map (@tl nat) numbers).
Proof.
  unfold total, sum_of. induction numbers as [|[|d l] numbers IH]; simpl; [lia| |].
  - rewrite IH. simpl. lia.
  - rewrite IH. simpl. lia.
Qed.

Lemma all_blank : forall numbers,
  forallb blank (map (@hd_error nat) numbers) = true -> total numbers = 0 /\ Forall (fun l => l = []) numbers.
Proof.
  induction numbers as [|[|d l] numbers IH]; simpl; intros H; [split; constructor| |discriminate].
  destruct (IH H) as [T F]. split; [exact T | now constructor].
Qed.

Lemma tails_shorter : forall count numbers,
  Forall (fun l => length l <= S count) numbers -> Forall (fun l => length l <= count) (map (@tl nat) numbers).
Proof.
  intros count numbers H. apply Forall_map. eapply Forall_impl; [|exact H].
  intros [|d l] L; simpl in *; lia.
Qed.

Lemma tails_end : forall numbers, Forall ends numbers -> Forall ends (map (@tl nat) numbers).
Proof.
  intros numbers H. apply Forall_map. eapply Forall_impl; [|exact H].
  intros [|d [|e l]] L; simpl; [now left | now left |].
  destruct L as [L|L]; [discriminate | now right].
Qed.

Lemma ends_value : forall l, digits l -> ends l -> value l = 0 -> l = [].
Proof.
  pose proof base_large as B.
  induction l as [|d l IH]; intros Hd He Hv; [reflexivity|].
  exfalso. simpl in Hv. assert (value l = 0) by nia.
  inversion Hd; subst. destruct l as [|e l].
  - destruct He as [He|He]; [discriminate | simpl in He; lia].
  - assert (E : e :: l = []) by (apply IH; [assumption | right; destruct He as [He|He]; [discriminate | exact He] | assumption]).
    discriminate.
Qed.

Lemma tails_digits : forall numbers, Forall digits numbers -> Forall digits (map (@tl nat) numbers).
Proof.
  intros numbers H. apply Forall_map. eapply Forall_impl; [|exact H].
  intros [|d l] L; simpl; [constructor | now inversion L].
Qed.

Lemma no_total : forall numbers, Forall digits numbers -> Forall ends numbers -> total numbers = 0 ->
  Forall (fun l => l = []) numbers.
Proof.
  unfold total. induction numbers as [|l numbers IH]; intros Hd He Ht; constructor; simpl in Ht;
    inversion Hd; inversion He; subst.
  - apply ends_value; [assumption | assumption | lia].
  - apply IH; [assumption | assumption | lia].
Qed.

Lemma heads_of_nothing : forall numbers, Forall ends numbers ->
  Forall (fun l => l = []) (map (@tl nat) numbers) -> sum_of (map (@hd_error nat) numbers) = 0 ->
  forallb blank (map (@hd_error nat) numbers) = true.
Proof.
  unfold sum_of. induction numbers as [|[|d l] numbers IH]; intros He Ht Hs; [reflexivity| |].
  - simpl in *. inversion He; inversion Ht; subst. now apply IH.
  - exfalso. simpl in *. inversion He as [|? ? E ?]; inversion Ht as [|? ? T ?]; subst.
    destruct E as [E|E]; [discriminate | simpl in E; lia].
Qed.

(** The induction over columns: a carry and the operands that are left. *)
Lemma rule_adds : forall count weight carry numbers,
  weight <> 0 -> Forall digits numbers -> Forall (fun l => length l <= count) numbers ->
  carry + weight * total numbers < base ^ count ->
  exists s, rule_run (weight, carry) (columns (S count) numbers) = Some s
    /\ value s = carry + weight * total numbers /\ digits s
    /\ (Forall ends numbers -> ends s)
    /\ (Forall ends (map (@tl nat) numbers) -> ends (tl s))
    /\ (s = [] -> Forall (fun l => l = []) numbers).
Proof.
  pose proof base_large as B.
  assert (Bz : base <> 0) by lia.
  induction count as [|count IH]; intros weight carry numbers Hw Hd Hl Hv.
  - assert (E : forallb blank (map (@hd_error nat) numbers) = true).
    { clear - Hl. induction Hl as [|[|d l] numbers L Hl IH]; simpl in *; [reflexivity | assumption | lia]. }
    assert (C : carry = 0) by (simpl in Hv; lia). subst carry.
    exists []. cbn [columns rule_run]. rewrite rule_plain by assumption. rewrite E. simpl.
    destruct (all_blank numbers E) as [T F]. rewrite T.
    repeat split; [lia | constructor | now left | now left | now intros _].
  - remember (S count) as more. cbn [columns rule_run]. rewrite rule_plain by assumption.
    destruct (forallb blank (map (@hd_error nat) numbers) && (carry =? 0)) eqn:E.
    + apply andb_true_iff in E as [E C]. apply Nat.eqb_eq in C. subst carry.
      exists []. destruct (all_blank numbers E) as [T F]. rewrite T.
      repeat split; [simpl; lia | constructor | now left | now left | now intros _].
    + set (here := carry + weight * sum_of (map (@hd_error nat) numbers)).
      set (rest := map (@tl nat) numbers).
      assert (V : carry + weight * total numbers = here + base * (weight * total rest)).
      { unfold here, rest. rewrite (total_split numbers). nia. }
      assert (Small : here / base + weight * total rest < base ^ count).
      { subst more. rewrite V in Hv. rewrite Nat.pow_succ_r' in Hv.
        replace (here / base + weight * total rest) with ((here + base * (weight * total rest)) / base).
        - now apply Nat.div_lt_upper_bound.
        - rewrite (Nat.mul_comm base). now rewrite Nat.div_add. }
      subst more.
      destruct (IH weight (here / base) rest Hw (tails_digits _ Hd) (tails_shorter _ _ Hl) Small)
        as [s [R [W [D [N _]]]]].
      exists (here mod base :: s). rewrite R. simpl.
      pose proof (Nat.div_mod here base Bz) as Q.
      assert (Value : here mod base + base * value s = carry + weight * total numbers) by (rewrite W, V; nia).
      repeat split; [exact Value | constructor; [now apply Nat.mod_upper_bound | exact D] | | exact N | discriminate].
      intros He. specialize (N (tails_end _ He)).
      destruct s as [|e s]; [|right; destruct N as [N|N]; [discriminate | exact N]].
      right. intros Z. simpl in Z, W.
      assert (H0 : here = 0) by (assert (Z0 : here / base = 0) by (apply Nat.eq_add_0 with (m := weight * total rest); lia); rewrite Z0, Z in Q; lia).
      assert (T0 : total rest = 0) by (destruct (total rest); [reflexivity | exfalso; nia]).
      assert (C0 : carry = 0) by (unfold here in H0; lia).
      assert (S0 : sum_of (map (@hd_error nat) numbers) = 0) by (unfold here in H0; nia).
      rewrite (heads_of_nothing numbers He (no_total _ (tails_digits _ Hd) (tails_end _ He) T0) S0), C0 in E.
      discriminate.
Qed.

Lemma total_small : forall numbers, Forall digits numbers ->
  total numbers + length numbers <= length numbers * base ^ longest numbers.
Proof.
  pose proof base_large as B.
  assert (Bz : base <> 0) by lia.
  unfold total. induction numbers as [|l numbers IH]; intros H; simpl; [lia|].
  inversion H; subst. specialize (IH H3).
  rewrite longest_cons. pose proof (value_small l H2) as V.
  assert (base ^ length l <= base ^ Nat.max (length l) (longest numbers)) by (apply Nat.pow_le_mono_r; lia).
  assert (base ^ longest numbers <= base ^ Nat.max (length l) (longest numbers)) by (apply Nat.pow_le_mono_r; lia).
  nia.
Qed.

Lemma written_tails_end : forall numbers, Forall written numbers -> Forall ends (map (@tl nat) numbers).
Proof.
  intros numbers H. apply Forall_map. eapply Forall_impl; [|exact H].
  intros [|d [|e l]] [_ [N L]]; simpl; [now left | now left |].
  destruct L as [L|L]; [now right | discriminate].
Qed.

Lemma lengths_longest : forall numbers, Forall (fun l => length l <= longest numbers) numbers.
Proof. intros. apply Forall_map with (f := @length nat) (P := fun n => n <= longest numbers). now apply list_max_le. Qed.

Lemma machine_is_linear : forall state weight carry numbers,
  weight <> 0 -> means state (weight, carry) = true ->
  carry < base ^ room -> weight * operands <= base ^ room ->
  length numbers = operands -> Forall digits numbers ->
  exists s, answer state numbers = Some s /\ value s = carry + weight * total numbers /\ digits s
    /\ (numbers <> [] -> Forall written numbers -> written s).
Proof.
  intros state weight carry numbers Hw Hm Hc Hr Hn Hd.
  pose proof base_large as B.
  assert (Small : carry + weight * total numbers < base ^ (longest numbers + room)).
  { pose proof (total_small numbers Hd) as T. rewrite Hn in T.
    rewrite Nat.pow_add_r.
    assert (1 <= base ^ longest numbers) by (apply Nat.neq_0_lt_0, Nat.pow_nonzero; lia).
    assert (weight * total numbers + weight * operands <= weight * operands * base ^ longest numbers) by nia.
    nia. }
  assert (Hl : Forall (fun l => length l <= longest numbers + room) numbers).
  { eapply Forall_impl; [|apply lengths_longest]. simpl. intros; lia. }
  destruct (rule_adds (longest numbers + room) weight carry numbers Hw Hd Hl Small) as [s [R [V [D [_ [N Z]]]]]].
  exists s. split; [|split; [exact V | split; [exact D|]]].
  - unfold answer. replace (longest numbers + room + 1) with (S (longest numbers + room)) by lia.
    now apply machine_follows_rule with (m := (weight, carry)); [apply columns_fine | | exact R].
  - intros Hnumbers Hall. specialize (N (written_tails_end _ Hall)).
    assert (Hs : s <> []).
    { intros E. specialize (Z E). destruct numbers as [|l numbers]; [congruence|].
      inversion Z; subst. inversion Hall as [|? ? [_ [L _]] _]. congruence. }
    split; [exact D | split; [exact Hs|]].
    destruct s as [|d [|e s]]; [congruence | |left; destruct N as [N|N]; [discriminate | exact N]].
    destruct d as [|d]; [now right | left; simpl; lia].
Qed.
