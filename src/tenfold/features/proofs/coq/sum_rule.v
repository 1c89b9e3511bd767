(** * The rule: add and carry *)

Definition blank (digit : option nat) : bool := match digit with Some _ => false | None => true end.

Definition sum_of (c : list (option nat)) : nat :=
  list_sum (map (fun digit => match digit with Some d => d | None => 0 end) c).

(** A state stands for a multiplier, which is 1 in a sum, and a carry. The product by 0 is the one digit 0: there,
    the second number says whether it is written. *)
Definition meaning : Type := nat * nat.
Inductive step := Writes (digit : nat) (next : meaning) | Stops | Refuses.

Definition rule (m : meaning) (c : list (option nat)) : step :=
  let (weight, carry) := m in
  if weight =? 0 then
    if carry =? 0 then if forallb blank c then Refuses else Writes 0 (0, 1) else Stops
  else if forallb blank c && (carry =? 0) then Stops
  else let here := carry + weight * sum_of c in Writes (here mod base) (weight, here / base).

Lemma rule_plain : forall weight carry c, weight <> 0 ->
  rule (weight, carry) c =
    if forallb blank c && (carry =? 0) then Stops
    else Writes ((carry + weight * sum_of c) mod base) (weight, (carry + weight * sum_of c) / base).
Proof. intros weight carry c H. unfold rule. now rewrite (proj2 (Nat.eqb_neq weight 0) H). Qed.
