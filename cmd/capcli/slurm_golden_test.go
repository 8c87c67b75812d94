package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"capcli/testdata/shelltest"
)

// slurmAnswer is what is compared of an answer of import slurm-…, and of the reference.
type slurmAnswer struct {
	Jobs []struct {
		ID, State string
		Priority  int64
		Attempts  []struct{ Start *int64 }
	}
}

// TestSlurmGolden asks the command what a real slurmctld did: priorities to the integer, but of jobs that it
// refused, and starts to 3 s. What else is compared stands in the tests of the library.
func TestSlurmGolden(t *testing.T) {
	for _, c := range []struct {
		what, kind string
		least      float64 // part that must agree
	}{{"priorities", "priority", 0.99}, {"play", "play", 0.95}} {
		dirs, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "golden", "slurm", c.kind, "*"))
		if len(dirs) == 0 {
			t.Skip("the answers of slurmctld are not here")
		}
		agree, of := 0, 0
		for _, dir := range dirs {
			e, stdout, stderr := shelltest.NewEnv()
			if code := run(context.Background(), e, []string{"import", "slurm-" + c.what, dir}); code != 0 {
				t.Fatalf("%s: exit %d: %s", dir, code, stderr)
			}
			b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var got, want slurmAnswer
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			place := map[string]int{}
			for i := range got.Jobs {
				place[got.Jobs[i].ID] = i
			}
			for _, w := range want.Jobs {
				i, ok := place[w.ID]
				switch {
				case !ok || w.State == "FAILED":
				case c.what == "priorities":
					of++
					if got.Jobs[i].Priority == w.Priority {
						agree++
					}
				default:
					for k, a := range w.Attempts {
						of++
						if k < len(got.Jobs[i].Attempts) && startsAlike(got.Jobs[i].Attempts[k].Start, a.Start) {
							agree++
						}
					}
				}
			}
		}
		if t.Logf("%s: %d of %d agree", c.what, agree, of); float64(agree) < c.least*float64(of) {
			t.Errorf("%s: want at least %v", c.what, c.least)
		}
	}
}

// startsAlike reports whether two starts are within 3 s, or both none.
func startsAlike(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return max(*a-*b, *b-*a) <= 3
}
