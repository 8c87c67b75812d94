package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"capcli"
)

// TestVictimsGolden chooses whom to preempt as an independent program does, by every rule.
func TestVictimsGolden(t *testing.T) {
	b, err := os.ReadFile(filepath.FromSlash("../../../shared/golden/elastic/share/cases.json"))
	if err != nil {
		t.Skip("the golden answers are not here")
	}
	var cases []struct {
		Kind, ID string
		Now      capcli.Seconds
		Free     int64
		Newcomer struct {
			GPUs     int64
			Priority int
		}
		Grace   int64 `json:"grace_s"`
		Running []struct {
			ID, GPUs          int64
			Priority          int
			Start, Checkpoint capcli.Seconds
		}
		Expect map[string]json.RawMessage
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Victims []int64 `json:"victims"`
		Freed   int64   `json:"freed"`
		Lost    int64   `json:"lost_gpu_s"`
		Starts  int64   `json:"newcomer_starts"`
		Grace   int64   `json:"grace_gpu_s"`
	}
	tried := 0
	for _, c := range cases {
		if c.Kind != "victims" {
			continue
		}
		for _, rule := range VictimRules {
			tried++
			var list []victim
			for _, r := range c.Running {
				if r.Priority < c.Newcomer.Priority {
					list = append(list, victim{r.Priority, r.GPUs, r.Start, int64(c.Now-max(r.Start, r.Checkpoint)) * r.GPUs, r.ID})
				}
			}
			slices.SortFunc(list, func(a, b victim) int { return a.compare(&b, rule) })
			chosen, ok := chooseVictims(len(list), func(stopped []int) bool {
				free := c.Free
				for _, i := range stopped {
					free += list[i].GPUs
				}
				return free >= c.Newcomer.GPUs
			})
			var got *answer
			if ok {
				got = &answer{Victims: []int64{}, Starts: int64(c.Now)}
				for _, i := range chosen {
					got.Victims = append(got.Victims, list[i].ID)
					got.Freed += list[i].GPUs
					got.Lost += list[i].Lost
				}
				if len(chosen) > 0 {
					got.Starts += c.Grace
				}
				slices.Sort(got.Victims) // the answers are sets
				got.Grace = c.Grace * got.Freed
			}
			var want *answer
			if err := json.Unmarshal(c.Expect[rule], &want); err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (want == nil) || got != nil && fmt.Sprint(*got) != fmt.Sprint(*want) {
				t.Errorf("%s %s: got %+v, want %s", c.ID, rule, got, c.Expect[rule])
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d cases", tried)
	}
}
