(** * The machine multiplies *)

Theorem machine_multiplies : forall m start, In (m, start) starts -> forall a, digits a -> a <> [] ->
  exists s, answer start [a] = Some s /\ value s = m * value a /\ digits s /\ (written a -> written s).
Proof.
  assert (H : forallb (fun s => means (snd s) (fst s, 0) && (fst s <=? base ^ room)) starts = true)
    by (vm_compute; reflexivity).
  rewrite forallb_forall in H. intros m start Hs a Ha Hne.
  specialize (H (m, start) Hs). apply andb_true_iff in H as [H L]. apply Nat.leb_le in L. simpl in H, L.
  destruct m as [|m].
  - exists [0]. assert (R : answer start [a] = Some [0]).
    { unfold answer. apply machine_follows_rule with (m := (0, 0)); [|exact H|].
      - apply columns_fine; [reflexivity | each].
      - replace (longest [a] + room + 1) with (S (S (longest [a] + (room - 1)))) by (assert (0 < room) by (vm_compute; lia); lia).
        destruct a; [congruence | reflexivity]. }
    assert (D : digits [0]) by (apply Forall_cons; [pose proof base_large; lia | apply Forall_nil]).
    split; [exact R | split; [simpl; lia | split; [exact D|]]].
    intros _. split; [exact D | split; [discriminate | now right]].
  - destruct (machine_is_linear start (S m) 0 [a]) as [s [R [V [D W]]]];
      [lia | exact H | pose proof base_large; apply Nat.neq_0_lt_0, Nat.pow_nonzero; lia
      | change operands with 1; lia | reflexivity | each|].
    exists s. split; [exact R | split; [unfold total in V; simpl in V |- *; lia | split; [exact D|]]].
    intros. apply W; [discriminate | each].
Qed.
