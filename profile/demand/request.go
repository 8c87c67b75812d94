package demand

import (
	"net/http"

	"capcli"
	"capcli/profile/series"
	"capcli/profile/store"
	"capcli/profile/trace"
)

// Measures are what is measured of job logs and of folders of GPU samples.
var Measures = []string{"demand", "usage", "queue", "arrivals", "arrival-hours", "held", "busy", "sm", "power"}

// Keys are what a job log is divided by, or a folder of GPU samples: its hosts stand
// in the place of pools.
var Keys = []string{"pool", "partition", "gpu_model", "tenant", "class", "host", "total"}

// GapRules and CombineRules are the values of Request.Gaps and of Request.Combine.
var (
	GapRules     = []string{"error", "zero", "linear", "previous", "missing"}
	CombineRules = []string{"mean", "sum", "max"}
)

// Request says where a history is and how it is read. The zero value of each field is
// its default.
type Request struct {
	Inputs  []string // files, or folders of GPU samples; none where a Prometheus server is asked
	Trace   trace.Options
	By      []string // a series for each value of these Keys
	Measure string   // one of Measures; "" is demand

	Peak        bool // the highest level in each step
	PeakPeriods bool // Peak is about periods ahead, which are put together from steps

	Step    capcli.Step // between values; zero is that of a table, and an hour of jobs and of samples
	Combine series.Combine
	Gaps    series.Gaps

	ID, Time, Value string // columns of a table; "" is unique_id, ds and y, or what is commonly used in their place

	Prometheus string // address of a server
	Query      string // in PromQL
	TokenFile  string // has the bearer token for the server
	From, To   string // dates or times; of samples and of Prometheus

	Past           Level  // the GPUs that there were: they held usage down
	Cap            Level  // no forecast goes above it
	Pending        string // table of the GPUs that waited
	CapacityColumn string // of past capacity, in the history or in the table of Past
	PendingColumn  string // of waiting GPUs, in the history or in the table of Pending
	CapacityQuery  string // of past capacity, in PromQL
	PendingQuery   string // of waiting GPUs, in PromQL

	Total     bool   // the sum of all series is added as a series of its own
	Separator string // ids of a table have levels between it, team/h100 is part of team: the sums are added

	// Curve reads a demand curve: all steps of a job log, no figure under 0, and Step
	// is how long a value without a date lasts.
	Curve bool
}

// Sources open what a Request names. Only those that the request needs must be there.
type Sources struct {
	Open     trace.Opener
	IsFolder func(name string) bool // nil is no folder at all
	Disk     store.Disk             // of folders; nil is that of the system
	Web      http.RoundTripper      // nil is the usual one
	Now      capcli.Time            // the end of the time that a server is asked for, where Request.To is ""

	// Progress begins to count in unit, jobs or ticks, and returns what is told how
	// many there were so far, and how many in the end. Nil tells nobody.
	Progress func(unit string) (at, end func(n int64))
}

// progress begins to count in unit.
func (s *Sources) progress(unit string) (at, end func(n int64)) {
	if s.Progress == nil {
		return func(int64) {}, func(int64) {}
	}
	return s.Progress(unit)
}

// Check refuses what is wrong with the request before anything is read. The error is a
// *capcli.RequestError or a *capcli.UnknownError.
func (r *Request) Check() error {
	choices := []struct {
		kind, value string
		choices     []string
	}{{"--gaps", string(r.Gaps), GapRules}, {"--agg", string(r.Combine), CombineRules}, {"--measure", r.Measure, Measures}}
	for _, c := range choices {
		if c.value == "" {
			continue // the default
		}
		if err := capcli.CheckChoice(c.kind, c.value, c.choices); err != nil {
			return err
		}
	}
	for _, k := range r.By {
		if err := capcli.CheckChoice("--by", k, Keys); err != nil {
			return err
		}
	}
	if r.CapacityQuery != "" && r.Past.IsGiven() || r.PendingQuery != "" && r.Pending != "" {
		return &capcli.RequestError{Text: "a query and a file say the same thing: --capacity-query and --past-capacity, or --pending-query and --pending", Hint: "give one of them"}
	}
	return nil
}

// censored reports whether demand is to be told from usage.
func (r *Request) censored() bool {
	return r.Past.IsGiven() || r.Pending != "" || r.CapacityColumn != "" || r.PendingColumn != "" || r.CapacityQuery != "" || r.PendingQuery != ""
}

// columnsBeside returns the columns of the history that are read beside its values.
func (r *Request) columnsBeside() []string {
	var out []string
	if r.CapacityColumn != "" && r.Past.File == "" {
		out = append(out, r.CapacityColumn)
	}
	if r.PendingColumn != "" && r.Pending == "" {
		out = append(out, r.PendingColumn)
	}
	return out
}

// stepped reports whether the request names a step.
func (r *Request) stepped() bool { return r.Step != capcli.Step{} }
