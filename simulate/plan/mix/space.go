package mix

import (
	"fmt"
	"math"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/billing"
)

// Axis is one choice of a plan and the values that it may have: a path of a
// scenario, "capacity.base.gpus", and what may stand there.
type Axis struct {
	Path   string   `json:"path"`
	Values []string `json:"values"`
	// Ordered tells that values that are next to each other are alike, so that a
	// search may try every so many first.
	Ordered bool `json:"ordered,omitempty"`
}

// Space is the mixes that a search goes over: every combination of the values
// of its axes. Candidates are numbered from 0, the last axis changing first, so
// that a number says which mix it is without any other state.
type Space struct {
	Axes []Axis `json:"axes"`
}

// size is the number of candidates; it fails where they are more than can be
// numbered, or an axis has no value.
func (s *Space) size() (int, error) {
	n := 1
	for _, a := range s.Axes {
		if len(a.Values) == 0 {
			return 0, fmt.Errorf("%s has no value to try", a.Path)
		}
		if n > math.MaxInt32/len(a.Values) {
			return 0, fmt.Errorf("over %d mixes: give fewer values, or wider steps", math.MaxInt32)
		}
		n *= len(a.Values)
	}
	return n, nil
}

// places are the place of candidate i on each axis.
func (s *Space) places(i int) []int {
	at := make([]int, len(s.Axes))
	for a := len(s.Axes) - 1; a >= 0; a-- {
		n := len(s.Axes[a].Values)
		at[a] = i % n
		i /= n
	}
	return at
}

// index is the number of the candidate at these places.
func (s *Space) index(at []int) int {
	i := 0
	for a := range s.Axes {
		i = i*len(s.Axes[a].Values) + at[a]
	}
	return i
}

// Values are the values of candidate i, one for each axis.
func (s *Space) Values(i int) []string {
	out := make([]string, len(s.Axes))
	for a, k := range s.places(i) {
		out[a] = s.Axes[a].Values[k]
	}
	return out
}

// Candidate is one mix, ready to be run.
type Candidate struct {
	Index  int      // its number in the space
	Values []string // one for each axis
	// Key names what the schedule depends on: capacity, rules and jobs, but no
	// prices. Candidates of one key have the same schedule in the same run, so
	// one simulation serves them all.
	Key   string
	Rates []billing.Rate // for each pool of Config
	// Invoice prices a run of it, which ended so long after its start; nil is by
	// Rates alone.
	Invoice func(rec *simulate.Record, ended capcli.Seconds) (*billing.Invoice, error) `json:"-"`
	// Discounted tells that Invoice makes use on demand cheaper than Rates say.
	Discounted bool
	// Unpriced tells that some pool has no price, so that the cost is not known.
	Unpriced bool
	// Config is a run of the mix without its jobs; each call gives one of its
	// own.
	Config func(run int) (simulate.Config, error) `json:"-"`

	lost loss // a run of it may be given up then
}

// Problem is a space, and what a run of each of its candidates meets. All of it
// is a function of the inputs, so Outcome is one of the inputs, the candidate's
// number and the run's: no order of work, number of cores or cut into shards
// can change it.
type Problem struct {
	Space Space
	Seed  capcli.Seed
	Runs  int // replications of each candidate; 1 where nothing is left to chance
	// PriceUnserved makes the work that a run leaves undone part of its cost, at the
	// on-demand price that applies to the jobs.
	PriceUnserved bool
	// Within is the wait that availability counts.
	Within capcli.Seconds
	// Candidate makes candidate i.
	Candidate func(i int) (*Candidate, error)
	// Jobs are the jobs of a run, in order of submission: the same for every
	// candidate, which is what makes runs comparable in pairs. They are shared
	// and must not be changed.
	Jobs func(run int) ([]capcli.Job, error)
}
