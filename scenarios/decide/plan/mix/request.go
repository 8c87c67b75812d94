package mix

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/play"
)

// Request asks for the best mix of a scenario. NewRequest makes one with the defaults.
type Request struct {
	Case *play.Case // the scenario without changes, with its jobs and its seed

	// Vary lists the axes of the mixes: "capacity.base.gpus=0..128:8",
	// "overflow.patience=0,15m,1h". Empty varies the sizes of the committed pools and the patience.
	Vary                 []string
	Policies, Placements []string // values of two more axes
	Exhaustive           bool     // try every mix, even without Vary, not only those around the best of a coarse grid

	// Max and Min are limits, "wait_p95=30m". They replace the scenario's limits on the same metric
	// and side.
	Max, Min []string
	Hold     float64 // share of the runs in which all limits must hold together, over 0 to 1
	// PriceUnserved charges work left undone at the on-demand price, in place of the limit on its
	// share.
	PriceUnserved bool
	Within        *capcli.Seconds // the longest wait that counts as available; nil takes that of the limits

	// WaitCost is what an hour that one job waits counts in the choice of the best mix, in dollars: of two patiences the
	// longer is taken where it saves more for each hour that a job waits. "" is WaitCostDefault where the mixes differ in
	// patience, and nothing elsewhere.
	WaitCost string

	Runs       int     // of each mix that is not dropped; 0 is 20, or 1 where nothing is left to chance
	Confidence float64 // that no mix is dropped wrongly, from 0 to under 1; 0 drops by proof alone
	Goal       Goal    // the mixes that dropping must keep
	Perfect    bool    // policies know true run times, whatever the scenario says
	All        bool    // list every mix in Result.All

	// Ahead returns the futures that the runs play, one each, with jobs drawn from those of the
	// past. Nil plays the jobs as they are.
	Ahead func(past []capcli.Job) (*futures.Set, error)
	Risk  plan.Risk // the figure of the cost over the runs to minimise

	// Offers are commitments that cover on-demand use and are no place. Their sizes are no axis: of each mix the best
	// purchases over all runs together are found exactly. Market has more of them as text: of it the terms, the lot
	// (a machine), the interval between times of purchase and the list of prices count.
	Offers      []Offer
	Market      *market.Request
	MachineGPUs int // GPUs of the machines in which pools are sold that do not say so; 0 or 1 is by the GPU
	// ByGPU bills the use of pools that do not say so by the GPU, though Market sells its terms in machines: jobs
	// share machines.
	ByGPU bool

	// Futures are job logs that may come, each played as one run, in place of the jobs of the case.
	Futures []Future

	// Memory keeps simulations and bounds for later plans; nil keeps none. Inputs identifies the
	// contents of the job log and of the futures, and the version of the program.
	Memory Memory
	Inputs string

	// Note receives messages about the jobs and the runs; it may be nil.
	Note func(text string)
}

// Future is a job log that may come.
type Future struct {
	Name   string
	Weight int64 // its weight against the others, over 0
	Jobs   func(ctx context.Context) ([]capcli.Job, error)
}

// NewRequest returns a request for the best mix of a case that holds the scenario's limits in 95 %
// of the runs, with 99 % confidence in dropped mixes.
func NewRequest(c *play.Case) *Request { return &Request{Case: c, Hold: 0.95, Confidence: 0.99} }

// Check returns a *capcli.RequestError where a field is out of its range.
func (r *Request) Check() error {
	switch {
	case !(r.Hold > 0 && r.Hold <= 1):
		return &capcli.RequestError{Field: "hold", Text: "wants a share over 0", Hint: "hold=95%"}
	case !(r.Confidence >= 0 && r.Confidence < 1):
		return &capcli.RequestError{Field: "confidence", Text: "100% would drop nothing; 0 says so", Hint: "confidence=99%"}
	case r.Goal > cheapest:
		return &capcli.RequestError{Field: "goal", Text: "wants frontier or cheapest"}
	}
	return nil
}

// ParseShare parses a share of the request such as 95% or 0.95. It fails with *capcli.RequestError.
func ParseShare(field, text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, &capcli.RequestError{Field: field, Text: fmt.Sprintf("%q is no share", text), Hint: field + "=95%"}
	}
	return v, nil
}

// ParseGoal parses a goal: cheapest or frontier. It fails with *capcli.RequestError.
func ParseGoal(text string) (Goal, error) {
	for _, g := range []Goal{frontier, cheapest} {
		if text == g.String() {
			return g, nil
		}
	}
	return 0, &capcli.RequestError{Field: "goal", Text: fmt.Sprintf("%q is unknown: have cheapest, frontier", text)}
}

func (r *Request) note(text string) {
	if r.Note != nil {
		r.Note(text)
	}
}
