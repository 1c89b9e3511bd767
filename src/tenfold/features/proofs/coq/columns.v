(** * Numbers, columns and the run of a machine *)

(** A number is a list of digits, lowest first. *)
Fixpoint value (number : list nat) : nat :=
  match number with
  | [] => 0
  | digit :: higher => digit + base * value higher
  end.

Definition digits (number : list nat) : Prop := Forall (fun digit => digit < base) number.

(** As numbers are written: digits, at least one, and no leading zero except for the number 0. *)
Definition written (number : list nat) : Prop :=
  digits number /\ number <> [] /\ (last number 0 <> 0 \/ number = [0]).

(** A column has a digit of each operand, or None where the operand has ended. *)
Definition column := list (option nat).

Fixpoint columns (count : nat) (numbers : list (list nat)) : list column :=
  match count with
  | O => []
  | S count => map (@hd_error nat) numbers :: columns count (map (@tl nat) numbers)
  end.

Definition longest (numbers : list (list nat)) : nat := list_max (map (@length nat) numbers).

(** Columns are numbered as in the table: digits in base + 1, where [base] stands for None. *)
Definition symbol (c : column) : nat :=
  fold_left (fun number digit => number * (base + 1) + match digit with Some d => d | None => base end) c 0.

Definition entry_at (state : nat) (c : column) : entry := nth (symbol c) (nth state table []) Nothing.

(** What the machine writes; None if it has no entry, or does not stop within these columns. *)
Fixpoint run (state : nat) (word : list column) : option (list nat) :=
  match word with
  | [] => None
  | c :: word =>
      match entry_at state c with
      | Write digit next => option_map (cons digit) (run next word)
      | Stop => Some []
      | Nothing => None
      end
  end.

Definition answer (state : nat) (numbers : list (list nat)) : option (list nat) :=
  run state (columns (longest numbers + room + 1) numbers).

(** * The table agrees with the rule *)

Fixpoint rule_run (m : meaning) (word : list column) : option (list nat) :=
  match word with
  | [] => None
  | c :: word =>
      match rule m c with
      | Writes digit next => option_map (cons digit) (rule_run next word)
      | Stops => Some []
      | Refuses => None
      end
  end.

Definition same (m n : meaning) : bool := (fst m =? fst n) && (snd m =? snd n).

Definition means (state : nat) (m : meaning) : bool := existsb (same m) (nth state meanings []).

Definition agrees (state : nat) (m : meaning) (c : column) : bool :=
  match rule m c, entry_at state c with
  | Refuses, _ => true
  | Stops, Stop => true
  | Writes digit m', Write digit' state' => (digit =? digit') && means state' m'
  | _, _ => false
  end.

Definition every_digit : list (option nat) := None :: map Some (seq 0 base).

Fixpoint every_column (operands : nat) : list column :=
  match operands with
  | O => [[]]
  | S operands => flat_map (fun digit => map (cons digit) (every_column operands)) every_digit
  end.

(** Every entry of the table is computed here. *)
Lemma table_agrees :
  forallb (fun state => forallb (fun m => forallb (agrees state m) (every_column operands)) (nth state meanings []))
    (seq 0 (length meanings)) = true.
Proof. vm_compute. reflexivity. Qed.

Lemma base_large : 2 <= base.
Proof. vm_compute. lia. Qed.

Definition fine (c : column) : Prop :=
  length c = operands /\ Forall (fun digit => forall d, digit = Some d -> d < base) c.

Lemma in_every_column : forall c,
  Forall (fun digit => forall d, digit = Some d -> d < base) c -> In c (every_column (length c)).
Proof.
  induction c as [|digit c IH]; intros H; [now left|].
  inversion H as [|? ? Hd Hc]; subst.
  change (In (digit :: c) (flat_map (fun digit => map (cons digit) (every_column (length c))) every_digit)).
  apply in_flat_map. exists digit. split.
  - destruct digit as [d|]; [right | now left].
    apply in_map. apply in_seq. specialize (Hd d eq_refl). lia.
  - apply in_map. now apply IH.
Qed.

Lemma same_equal : forall m n, same m n = true -> m = n.
Proof.
  intros [a b] [c d] H. unfold same in H. simpl in H.
  apply andb_true_iff in H as [H1 H2].
  apply Nat.eqb_eq in H1. apply Nat.eqb_eq in H2. now subst.
Qed.

Lemma means_agrees : forall state m c, means state m = true -> fine c -> agrees state m c = true.
Proof.
  intros state m c H [Hlength Hdigits].
  unfold means in H. apply existsb_exists in H as [n [Hin Hsame]].
  apply same_equal in Hsame. subst n.
  assert (Hstate : state < length meanings).
  { destruct (Nat.lt_ge_cases state (length meanings)) as [|Hge]; [assumption|].
    rewrite nth_overflow in Hin by assumption. destruct Hin. }
  pose proof table_agrees as T.
  rewrite forallb_forall in T. specialize (T state (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) Hstate))).
  rewrite forallb_forall in T. specialize (T m Hin).
  rewrite forallb_forall in T. apply T.
  rewrite <- Hlength. now apply in_every_column.
Qed.

Lemma machine_follows_rule : forall word state m s,
  Forall fine word -> means state m = true -> rule_run m word = Some s -> run state word = Some s.
Proof.
  induction word as [|c word IH]; intros state m s Hfine Hmeans Hrun; [discriminate|].
  inversion Hfine as [|? ? Hc Hword]; subst.
  pose proof (means_agrees state m c Hmeans Hc) as A. unfold agrees in A.
  simpl in *. destruct (rule m c) as [digit m'| |]; [| |discriminate].
  - destruct (entry_at state c) as [digit' state'| |]; try discriminate.
    apply andb_true_iff in A as [A1 A2]. apply Nat.eqb_eq in A1. subst digit'.
    destruct (rule_run m' word) as [s'|] eqn:E; [|discriminate].
    rewrite (IH state' m' s' Hword A2 E). assumption.
  - destruct (entry_at state c); try discriminate. assumption.
Qed.

Lemma columns_fine : forall count numbers,
  length numbers = operands -> Forall digits numbers -> Forall fine (columns count numbers).
Proof.
  induction count as [|count IH]; intros numbers Hlength Hdigits; simpl; constructor.
  - split; [now rewrite map_length|].
    apply Forall_map. eapply Forall_impl; [|exact Hdigits].
    intros [|x l] H d E; simpl in E; [discriminate|]. injection E as <-. now inversion H.
  - apply IH; [now rewrite map_length|].
    apply Forall_map. eapply Forall_impl; [|exact Hdigits].
    intros [|x l] H; simpl; [constructor | now inversion H].
Qed.

(** * Sizes of numbers *)

Lemma value_small : forall number, digits number -> value number < base ^ length number.
Proof.
  pose proof base_large as B.
  induction number as [|d l IH]; intros H; simpl; [lia|].
  inversion H; subst. specialize (IH H3). nia.
Qed.

Lemma longest_cons : forall number numbers, longest (number :: numbers) = Nat.max (length number) (longest numbers).
Proof. reflexivity. Qed.

(** Each number of an explicit list has a property that is assumed of it. *)
Ltac each := repeat (apply Forall_cons; [assumption|]); apply Forall_nil.
