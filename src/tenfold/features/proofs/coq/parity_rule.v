(** * The rule: is the number of ones so far odd? *)

(** A state stands for the parity so far, the second number; the first is always 1. *)
Definition meaning : Type := nat * nat.
Inductive step := Writes (digit : nat) (next : meaning) | Stops | Refuses.

Definition rule (m : meaning) (c : list (option nat)) : step :=
  match c with
  | [Some d] => let odd := (snd m + d) mod 2 in Writes odd (1, odd)
  | [None] => Stops
  | _ => Refuses
  end.
