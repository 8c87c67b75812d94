package mix

import (
	"context"
	"fmt"
	"math"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/outcome"
	"capcli/simulate"
)

// Axis is one choice of a plan: a path of a scenario, such as "capacity.base.gpus", and the values
// tried there.
type Axis struct {
	Path   string   `json:"path"`
	Values []string `json:"values"`
	// Ordered means that neighbouring values are alike, so that a search may first try every so
	// many of them.
	Ordered bool `json:"ordered,omitempty"`
}

// Space is the set of mixes that a search covers: every combination of the values of its axes.
// Candidates are numbered from 0, the last axis changing fastest.
type Space struct {
	Axes []Axis `json:"axes"`
}

// size returns the number of candidates. It fails where they are too many to be numbered, or an
// axis has no value.
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

// places returns the index of candidate i's value on each axis.
func (s *Space) places(i int) []int {
	at := make([]int, len(s.Axes))
	for a := len(s.Axes) - 1; a >= 0; a-- {
		n := len(s.Axes[a].Values)
		at[a] = i % n
		i /= n
	}
	return at
}

// index returns the number of the candidate with these values.
func (s *Space) index(at []int) int {
	i := 0
	for a := range s.Axes {
		i = i*len(s.Axes[a].Values) + at[a]
	}
	return i
}

// Values returns the values of candidate i, one for each axis.
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
	// Key identifies what the schedule depends on: capacity, rules and jobs, but no prices.
	// Candidates of one key have the same schedule in the same run, so one simulation serves them
	// all.
	Key   string
	Rates []billing.Rate // for each pool of Config
	// Invoice prices a run that ended at the given time after its start; nil prices by Rates alone.
	Invoice func(rec *simulate.Record, ended capcli.Seconds) (*billing.Invoice, error) `json:"-"`
	// Discounted means that Invoice makes on-demand use cheaper than Rates say.
	Discounted bool
	// Unpriced means that some pool has no price, so that the cost is not known.
	Unpriced bool
	// Services returns the figures of the services of a run; nil where there are none.
	Services func(ctx context.Context, run int, res *simulate.Result, inv *billing.Invoice, priced bool) ([]outcome.Service, error) `json:"-"`
	// Config returns a run of the mix without its jobs. Each call returns its own copy.
	Config func(run int) (simulate.Config, error) `json:"-"`

	metered []bool // for each pool of Config, whether offers may cover its use; nil where there are none

	offers []Offer // pools of the scenario that float

	lost loss // a run may be given up once this loss is certain
}

// Problem is a space, and the conditions of the runs of its candidates. An outcome depends on the
// inputs, the candidate's number and the run's number alone, not on the order of work, the number
// of cores or the cut into shards.
type Problem struct {
	Space Space
	Seed  capcli.Seed
	Runs  int // replications of each candidate; 1 where nothing is left to chance
	// Weights are the whole weights of the runs, where they are futures that are not as likely as each other; nil
	// counts all alike.
	Weights []int64
	// PriceUnserved adds the work that a run leaves undone to its cost, at the on-demand price that
	// applies to the jobs.
	PriceUnserved bool
	// WaitPrice is what an hour that one job waits counts in the choice of the best mix; it is no part of the cost.
	WaitPrice capcli.Rate
	// Within is the longest wait that counts as available, in the metric availability.
	Within capcli.Seconds
	// Candidate returns candidate i.
	Candidate func(i int) (*Candidate, error)
	// Jobs returns the jobs of a run, in order of submission: the same for every candidate, which
	// makes runs comparable in pairs. They are shared and must not be changed.
	Jobs func(run int) ([]capcli.Job, error)
	// Memory keeps simulations and bounds under the name Jobset of the jobs; nil keeps none.
	Memory Memory
	Jobset string

	Effort *Effort // receives how long parts take; nil takes no times

	tariff *tariff // what may be committed to beside the mixes; nil is nothing
}
