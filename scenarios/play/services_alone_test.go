package play_test

import (
	"testing"

	"capcli/scenarios"
	"capcli/scenarios/play"
)

// A scenario with services and no jobs has none: those of the default scenario are not lent to it.
func TestServicesAloneHaveNoJobs(t *testing.T) {
	s, err := scenarios.Parse("s.yaml", []byte(`capcli: scenario/v1
name: s
period: 2027-03-01 to 2027-03-01
services: [{name: chat, step: 1h, mu: 10, load: [5, 15, 25], initial: 3}]
capacity: [{name: p, kind: owned, gpus: 8}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	c, err := play.NewCase(s, play.Options{Note: func(text string) { notes = append(notes, text) }})
	if err != nil {
		t.Fatal(err)
	}
	jobs, _, err := c.Jobs(t.Context(), 0, nil)
	if err != nil || len(jobs) != 0 || len(notes) != 0 {
		t.Errorf("%d jobs, notes %q, %v", len(jobs), notes, err)
	}
}
