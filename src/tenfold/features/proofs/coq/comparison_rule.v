(** * The rule: which number is larger so far? *)

(** A state stands for the verdict so far, the second number: 0 equal, 1 greater, 2 less. The first is always 1. *)
Definition meaning : Type := nat * nat.
Inductive step := Writes (digit : nat) (next : meaning) | Stops | Refuses.

Definition digit_of (digit : option nat) : nat := match digit with Some d => d | None => 0 end.

(** The verdict on two numbers; where they are equal, the one before. *)
Definition verdict (before a b : nat) : nat := match a ?= b with Eq => before | Gt => 1 | Lt => 2 end.

Definition rule (m : meaning) (c : list (option nat)) : step :=
  match c with
  | [None; None] => Stops
  | [x; y] => let now := verdict (snd m) (digit_of x) (digit_of y) in Writes (nth now signs 0) (1, now)
  | _ => Refuses
  end.
