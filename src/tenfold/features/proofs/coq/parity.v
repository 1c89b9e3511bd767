(** * The rule writes the parity of the ones up to every digit *)

Lemma rule_counts : forall a odd,
  exists s, rule_run (1, odd) (columns (S (length a)) [a]) = Some s /\ length s = length a
    /\ forall i, i < length a -> nth i s 0 = (odd + list_sum (firstn (S i) a)) mod 2.
Proof.
  induction a as [|d a IH]; intros odd.
  - exists []. split; [reflexivity | split; [reflexivity | intros i H; simpl in H; lia]].
  - destruct (IH ((odd + d) mod 2)) as [s [R [L N]]].
    exists ((odd + d) mod 2 :: s). cbn [length]. remember (S (length a)) as count.
    cbn [columns rule_run map hd_error tl rule snd]. rewrite R. split; [reflexivity | split; [simpl; lia|]].
    intros [|i] H.
    + simpl nth. replace (list_sum (firstn 1 (d :: a))) with d by (simpl; lia). reflexivity.
    + change (nth (S i) ((odd + d) mod 2 :: s) 0) with (nth i s 0). rewrite N by (subst count; lia).
      rewrite Nat.add_mod_idemp_l by discriminate.
      change (firstn (S (S i)) (d :: a)) with (d :: firstn (S i) a).
      change (list_sum (d :: firstn (S i) a)) with (d + list_sum (firstn (S i) a)). f_equal. lia.
Qed.

(** Digit i of the answer is the parity of the digits 0 to i. *)
Theorem machine_counts : forall start, In start starts -> forall a, digits a ->
  exists s, answer start [a] = Some s /\ length s = length a
    /\ forall i, i < length a -> nth i s 0 = list_sum (firstn (S i) a) mod 2.
Proof.
  assert (H : forallb (fun start => means start (1, 0)) starts = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in H. intros start Hs a Ha. specialize (H start Hs).
  destruct (rule_counts a 0) as [s [R [L N]]].
  exists s. split; [|split; [exact L | exact N]].
  unfold answer. rewrite longest_cons. change (longest []) with 0.
  replace (Nat.max (length a) 0 + room + 1) with (S (length a)) by (change room with 0; lia).
  apply machine_follows_rule with (m := (1, 0)); [apply columns_fine; [reflexivity | each] | exact H | exact R].
Qed.
