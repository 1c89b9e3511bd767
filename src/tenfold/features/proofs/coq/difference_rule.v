(** * The rule: subtract and borrow *)

(** A state stands for a borrow, the second number; the first is always 1. *)
Definition meaning : Type := nat * nat.
Inductive step := Writes (digit : nat) (next : meaning) | Stops | Refuses.

(** The answer is as long as the first operand. Nothing is asked where the second one is longer or a borrow is left. *)
Definition rule (m : meaning) (c : list (option nat)) : step :=
  let borrow := snd m in
  match c with
  | [Some x; y] =>
      let less := borrow + match y with Some y => y | None => 0 end in
      if x <? less then Writes (x + base - less) (1, 1) else Writes (x - less) (1, 0)
  | [None; None] => if borrow =? 0 then Stops else Refuses
  | _ => Refuses
  end.
