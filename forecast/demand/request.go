package demand

import (
	"net/http"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
	"capcli/profile/store"
)

// Measures are the measures of job logs, of folders of GPU samples and of traffic.
var Measures = append([]string{"demand", "usage", "queue", "arrivals", "arrival-hours", "held", "busy", "sm", "power"}, TrafficMeasures...)

// TagKey begins the key that divides a job log by a tag of the jobs: tag:project. A name that is none
// of Keys is that of a tag too.
const TagKey = "tag:"

// Keys are the keys that divide a job log, or a folder of GPU samples, into series. A folder has
// hosts instead of pools.
var Keys = []string{"pool", "partition", "gpu_model", "tenant", "class", "host", "total"}

// GapRules and CombineRules are the values of Request.Gaps and of Request.Combine.
var (
	GapRules     = []string{"error", "zero", "linear", "previous", "missing"}
	CombineRules = []string{"mean", "sum", "max"}
)

// Request says where a history is and how to read it. The zero value of each field is its
// default.
type Request struct {
	Inputs  []string // files, or folders of GPU samples; none for a Prometheus server
	Trace   trace.Options
	By      []string // Keys: one series for each combination of their values
	Measure string   // one of Measures; "" is demand

	Peak        bool // values are the highest level in each step, not the mean
	PeakPeriods bool // Peak is about future periods, which the caller computes from steps

	Step    capcli.Step    // step of the result; zero is the step of a table, and an hour for jobs and samples
	Combine series.Combine // how to combine values of a table in one step
	Gaps    series.Gaps    // how to treat steps without a value

	ID, Time, Value string // columns of a table; "" is unique_id, ds and y, or another common name

	Prometheus string // address of a server; "" is none
	Query      string // PromQL of the history
	Metrics    string // or the kind of servers whose traffic is the history, a name of inference.Servers
	Match      string // further conditions on labels, for Metrics: model_name="llama"
	TokenFile  string // file with the bearer token for the server; "" is none
	From, To   string // dates or times that bound samples and Prometheus queries

	Past           Level   // past capacity, which limited usage
	Cap            Level   // upper bound on forecasts
	Ahead          float64 // capacity ahead, which bounds nothing; 0 is not known
	Pending        string  // file with a table of the GPUs that waited; "" is none
	CapacityColumn string  // column of past capacity, in the history or in the table of Past
	PendingColumn  string  // column of waiting GPUs, in the history or in the table of Pending
	CapacityQuery  string  // PromQL of past capacity
	PendingQuery   string  // PromQL of waiting GPUs

	Further []string // further columns of numbers of a table, which become History.Further

	Total     bool   // add the sum of all series as a series
	Separator string // separator between the levels of a table's ids, such as / in team/h100: adds the sums of the levels

	// Curve reads a demand curve: all steps of a job log, and no negative value. Step is
	// the duration of a value without a date. Whole leaves out the steps of a job log that it does
	// not cover in full, such as those after its last submission: they are no history.
	Curve, Whole bool
}

// Sources open the inputs of a Request. A source that the request does not need may be zero.
type Sources struct {
	Open     trace.Opener
	IsFolder func(name string) bool // nil means that no input is a folder
	// Folder opens a folder of samples; nil opens those of the disk of the system.
	Folder func(name string) (store.Folder, error)
	Web    http.RoundTripper // nil is http.DefaultTransport
	Now    capcli.Time       // end of the Prometheus query where Request.To is ""

	// Progress starts a count in unit, "jobs" or "ticks". It returns a function to call with
	// the count so far, and one to call with the final count. Nil reports no progress.
	Progress func(unit string) (at, end func(n int64))
}

// progress starts a count in unit, with functions that do nothing where Progress is nil.
func (s *Sources) progress(unit string) (at, end func(n int64)) {
	if s.Progress == nil {
		return func(int64) {}, func(int64) {}
	}
	return s.Progress(unit)
}

// Check returns an error for a request that is wrong whatever its inputs are: a
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
		if tag := tagOfKey(k); tag != "" && capcli.CheckTagName(tag) != "" {
			return capcli.CheckChoice("--by", k, Keys)
		}
	}
	if r.CapacityQuery != "" && r.Past.IsGiven() || r.PendingQuery != "" && r.Pending != "" {
		return &capcli.RequestError{Text: "a query and a file say the same thing: --capacity-query and --past-capacity, or --pending-query and --pending", Hint: "give one of them"}
	}
	return nil
}

// tagOfKey returns the tag by which a key divides a log; "" for one of Keys.
func tagOfKey(key string) string {
	if slices.Contains(Keys, key) {
		return ""
	}
	return strings.TrimPrefix(key, TagKey)
}

// censored reports whether the request asks to estimate demand from usage.
func (r *Request) censored() bool {
	return r.Past.IsGiven() || r.Pending != "" || r.CapacityColumn != "" || r.PendingColumn != "" || r.CapacityQuery != "" || r.PendingQuery != ""
}

// columnsBeside returns the columns of the history that hold its capacity and its queue, and the further ones.
func (r *Request) columnsBeside() []string {
	var out []string
	if r.CapacityColumn != "" && r.Past.File == "" {
		out = append(out, r.CapacityColumn)
	}
	if r.PendingColumn != "" && r.Pending == "" {
		out = append(out, r.PendingColumn)
	}
	return append(out, r.Further...)
}

func (r *Request) stepped() bool { return r.Step != capcli.Step{} }
