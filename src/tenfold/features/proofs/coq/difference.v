(** * The rule computes the difference *)

(** The induction over columns: what is left of both operands, and a borrow. *)
Lemma rule_subtracts : forall a b borrow,
  borrow <= 1 -> digits a -> digits b -> length b <= length a -> value b + borrow <= value a ->
  exists s, rule_run (1, borrow) (columns (S (length a)) [a; b]) = Some s
    /\ value s + value b + borrow = value a /\ digits s /\ length s = length a.
Proof.
  pose proof base_large as B.
  induction a as [|x a IH]; intros b borrow Hborrow Ha Hb Hl Hv.
  - destruct b; [|simpl in Hl; lia]. simpl in Hv. assert (borrow = 0) by lia. subst borrow.
    exists []. split; [reflexivity | split; [simpl; lia | split; [constructor | reflexivity]]].
  - remember (length (x :: a)) as count. cbn [columns rule_run map hd_error tl]. subst count.
    set (y := hd 0 b). set (rest := tl b).
    assert (Hy : y < base) by (unfold y; destruct b; simpl; [lia | now inversion Hb]).
    assert (Hrest : digits rest) by (unfold rest; destruct b; simpl; [constructor | now inversion Hb]).
    assert (Hx : x < base) by now inversion Ha.
    assert (Hshort : length rest <= length a) by (unfold rest; destruct b; simpl in *; lia).
    assert (Hb' : value b = y + base * value rest) by (unfold y, rest; destruct b; simpl; lia).
    assert (R : rule (1, borrow) [Some x; hd_error b] =
      if x <? borrow + y then Writes (x + base - (borrow + y)) (1, 1) else Writes (x - (borrow + y)) (1, 0))
      by (unfold y; destruct b; reflexivity).
    simpl in Hv. rewrite Hb' in Hv. rewrite R.
    destruct (x <? borrow + y) eqn:E.
    + apply Nat.ltb_lt in E.
      destruct (IH rest 1 (le_n 1) ltac:(now inversion Ha) Hrest Hshort) as [s [S1 [S2 [S3 S4]]]].
      { assert (value rest < value a) by nia. lia. }
      exists (x + base - (borrow + y) :: s). cbn [length]. rewrite S1. repeat split.
      * simpl. rewrite Hb'. nia.
      * constructor; [lia | exact S3].
      * simpl. now rewrite S4.
    + apply Nat.ltb_ge in E.
      destruct (IH rest 0 (le_S 0 0 (le_n 0)) ltac:(now inversion Ha) Hrest Hshort) as [s [S1 [S2 [S3 S4]]]].
      { assert (value rest <= value a) by nia. lia. }
      exists (x - (borrow + y) :: s). cbn [length]. rewrite S1. repeat split.
      * simpl. rewrite Hb'. nia.
      * constructor; [lia | exact S3].
      * simpl. now rewrite S4.
Qed.

Lemma last_nonzero_large : forall l, l <> [] -> last l 0 <> 0 -> base ^ (length l - 1) <= value l.
Proof.
  pose proof base_large as B.
  induction l as [|d l IH]; intros N L; [congruence|].
  destruct l as [|e l]; [simpl in *; lia|].
  assert (I : base ^ (length (e :: l) - 1) <= value (e :: l)) by (apply IH; [discriminate | exact L]).
  replace (length (d :: e :: l) - 1) with (S (length (e :: l) - 1)) by (simpl; lia).
  rewrite Nat.pow_succ_r'. change (value (d :: e :: l)) with (d + base * value (e :: l)). nia.
Qed.

(** Without leading zeros, the larger number is not the shorter one. *)
Lemma larger_longer : forall a b, written a -> written b -> value b <= value a -> length b <= length a.
Proof.
  pose proof base_large as B.
  intros a b [Da [Na _]] [_ [Nb [Lb|Lb]]] H.
  - destruct (Nat.le_gt_cases (length b) (length a)) as [|G]; [assumption|].
    pose proof (last_nonzero_large b Nb Lb). pose proof (value_small a Da).
    assert (base ^ length a <= base ^ (length b - 1)) by (apply Nat.pow_le_mono_r; lia). lia.
  - subst b. destruct a; [congruence | simpl; lia].
Qed.

Theorem machine_subtracts : forall start, In start starts -> forall a b,
  digits a -> digits b -> length b <= length a -> value b <= value a ->
  exists s, answer start [a; b] = Some s /\ value s = value a - value b /\ digits s /\ length s = length a.
Proof.
  assert (H : forallb (fun start => means start (1, 0)) starts = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in H. intros start Hs a b Ha Hb Hl Hv. specialize (H start Hs).
  destruct (rule_subtracts a b 0) as [s [R [V [D L]]]]; [lia | assumption | assumption | assumption | lia |].
  exists s. split; [|split; [lia | split; assumption]].
  unfold answer. rewrite !longest_cons. change (longest []) with 0.
  replace (Nat.max (length a) (Nat.max (length b) 0) + room + 1) with (S (length a)) by (change room with 0; lia).
  apply machine_follows_rule with (m := (1, 0)); [apply columns_fine; [reflexivity | each] | exact H | exact R].
Qed.

(** As numbers are written: no leading zeros. *)
Corollary machine_subtracts_numbers : forall start, In start starts -> forall a b,
  written a -> written b -> value b <= value a ->
  exists s, answer start [a; b] = Some s /\ value s = value a - value b /\ digits s /\ length s = length a.
Proof.
  intros start Hs a b Ha Hb Hv.
  apply machine_subtracts; [assumption | apply Ha | apply Hb | now apply larger_longer | assumption].
Qed.
