package trace

import (
	"reflect"
	"strings"
	"testing"
)

const unlabelled = `7|x|eve|COMPLETED|2026-01-05T09:01:00|2026-01-05T10:01:00|3600|02:00:00|2026-01-05T09:00:00|cpu=8|cpu=8,gres/gpu=8,node=1|n1
7.batch|x||COMPLETED|2026-01-05T09:01:00|2026-01-05T10:01:00|3600||2026-01-05T09:01:00||cpu=8,node=1|n1
8_[2-9]|x|bob|PENDING|Unknown|Unknown|0|1-00:00:00|2026-01-05T09:30:00|cpu=4,gres/gpu=4||None assigned
8_1|x|bob|CANCELLED by 1001|2026-01-05T09:31:00|2026-01-05T09:31:30|30|1-00:00:00|2026-01-05T09:30:00|cpu=4,gres/gpu=4|cpu=4,gres/gpu=4,node=1|n2
`

func TestGuessColumns(t *testing.T) {
	want := strings.Split("JobID,column 2,column 3,State,Start,End,ElapsedRaw,Timelimit,Submit,ReqTRES,AllocTRES,column 12", ",")
	for name, text := range map[string]string{
		"as it is":       unlabelled,
		"unit separator": strings.ReplaceAll(unlabelled, "|", "\x1f"),
		"windows":        strings.ReplaceAll(unlabelled, "\n", "\r\n"),
	} {
		if got := guessColumns([]byte(text)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for name, text := range map[string]string{
		"no state":         strings.NewReplacer("COMPLETED", "a", "PENDING", "b", "CANCELLED", "c").Replace(unlabelled),
		"one time":         strings.ReplaceAll(unlabelled, "|2026-01-05T09:01:00|2026-01-05T10:01:00|", "|x|y|"),
		"no resources":     strings.ReplaceAll(unlabelled, "=", "~"),
		"a few fields":     "1|2|3|4\n1|2|3|4\n",
		"rows of no width": "1|2|3|4|5\n",
	} {
		if got := guessColumns([]byte(text)); got != nil {
			t.Errorf("%s: got %q, want none", name, got)
		}
	}
}

// A guessed dump reads as it does under its header, and says what was guessed.
func TestGuessReads(t *testing.T) {
	head := "JobID|Any|Who|State|Start|End|ElapsedRaw|Timelimit|Submit|ReqTRES|AllocTRES|Where\n"
	epoch := strings.NewReplacer("2026-01-05T09:00:00", "1767603600", "2026-01-05T09:01:00", "1767603660", "2026-01-05T10:01:00", "1767607260",
		"2026-01-05T09:30:00", "1767605400", "2026-01-05T09:31:00", "1767605460", "2026-01-05T09:31:30", "1767605490").Replace(unlabelled)
	want, wantRep := readAll(t, []byte(head+epoch), Options{})
	got, rep := readAll(t, []byte(epoch), Options{})
	if !reflect.DeepEqual(got, want) || rep.Kept != 2 || rep.Kept != wantRep.Kept || rep.Folded != 1 || rep.Rejected != 1 {
		t.Errorf("got %+v, %+v\nwant %+v, %+v", got, rep, want, wantRep)
	}
	const note = "the dump has no header; its columns were guessed: 1 JobID, 4 State, 5 Start, 6 End, 7 ElapsedRaw, 8 Timelimit, 9 Submit, 10 ReqTRES, 11 AllocTRES; --read columns= names all of them, as given to sacct --format"
	if len(rep.Notes) != 1 || rep.Notes[0] != note {
		t.Errorf("notes %q", rep.Notes)
	}
}
