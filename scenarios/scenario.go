// Package scenarios reads scenarios: a person's description of capacity, prices and
// rules in strict YAML. It reports all faults of a file at once and turns a scenario
// into a simulate.Config. It also reads portfolios and markets, holds the library of
// scenarios that come with the program, and makes scenarios for job logs.
//
// The package opens no files. A scenario's files are opened through Options.Open,
// relative to the folder of the scenario.
package scenarios

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/forecast/roadmap"
	"capcli/scenarios/generate"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/outcome"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/policy"
	"capcli/simulate/serving/service"
)

// version is the version of the file format, in a scenario's first line: capcli: scenario/v1.
const version = "scenario/v1"

// Limits of a scenario.
const (
	maxCapacity = 4096
	maxTenants  = 100_000
	maxList     = 1000 // of every other list
	maxSentence = 2000 // characters
)

var scenarioForm = strict.Form{Version: version, What: "a scenario", Template: "capcli scenarios init", TooLong: ". Is this a job log? Give it with --trace"}

// Scenario is a scenario file, checked.
type Scenario struct {
	File            string // as given to Parse
	Dir             string // folder of File; files that the scenario names are relative to it
	Name            string // file name without ending if the file states none
	Description     string
	Period          Period
	Seed            capcli.Seed // defaultSeed if the file states none
	Jobs            Jobs
	Kueue           *Kueue // nil if jobs are not those of Kubernetes objects
	Capacity        []Capacity
	Commitments     []billing.Commitment // commitments that make on-demand use cheaper: see Invoice
	Policy          Policy
	Shapes          []ShapeRule // how jobs may run; the first that fits a job counts
	Widths          Choosing    // which of its ways a job takes
	Placement       string      // "" is the default: see DefaultPlacement
	Overflow        Overflow
	Preemption      simulate.Restarts
	Preempts        simulate.PreemptRules
	Retries         simulate.Retries
	Defragment      simulate.Defragment
	Storage         capcli.USD // price of a GB of checkpoints in storage for a month; 0 where the file states none
	Tenants         []simulate.Tenant
	EachTenant      simulate.Caps // caps of every tenant that states none
	PriorityClasses []simulate.PriorityClass
	Limits          []outcome.Check     // bounds that the result should hold, in the file's order
	Budget          *billing.Budget     // nil if the file states none
	Approvals       billing.Approvals   // empty if the file states none
	Energy          *Energy             // nil if the file states none
	Services        []service.Spec      // hold capacity beside the jobs
	Campaigns       []roadmap.Entry     // planned training runs, whose jobs come beside the others
	Speed           []Speed             // makes jobs faster or slower
	PriceFile       string              // file of own prices, which take precedence over the catalogue
	Workflows       []generate.Workflow // of stages and sweeps, beside the other jobs
	Places          *Places             // nil if the file states none
	Shift           []Shift             // the first that fits a job applies

	prices *prices.List // the prices given to ParseWith
	own    *prices.List // those of PriceFile, once it has been read
	lentTo string       // see lentModel
	source []byte
	sets   []string
	// unsettled keeps pools that float out of invoices: see LeaveUnsettled.
	unsettled bool
	left      []int // indexes, in the list of the source and the overrides, of the pools in Capacity; nil is all
	opened    *opened

	serviceObjects  []*strict.Object // of Services, while the file is read
	workflowObjects []*strict.Object // of Workflows, while the file is read
	discountNodes   []*yaml.Node     // the nodes of Commitments, for the lines of faults
}

// defaultSeed is the seed of a scenario that states none.
const defaultSeed capcli.Seed = 42

// Period is the time that a scenario covers. Both times are NoTime if the scenario states none.
type Period struct {
	Start, End capcli.Time // End is the first instant after the period
}

// IsKnown reports whether the scenario states a period.
func (p Period) IsKnown() bool { return p.Start.IsKnown() }

// Length returns the period's length; 0 if the period is unknown.
func (p Period) Length() capcli.Seconds {
	if !p.IsKnown() {
		return 0
	}
	return capcli.Seconds(p.End - p.Start)
}

// Jobs says where the jobs come from: a file, the generator, or the command line if both are empty.
type Jobs struct {
	From        string // file of a trace, relative to Scenario.Dir
	Format      string // its format; "" detects it
	TZ          string // zone of times without one
	Generate    *generate.Workload
	AnyModel    bool // run jobs on GPUs of any model
	CPUJobs     bool // also run jobs that want no GPU
	KillAtLimit bool // end a job at its limit
}

// Policy is the scheduling policy and its settings.
type Policy struct {
	Name        string // fifo where the file states none
	QueueLimits []capcli.GPUTime
	Own         map[string]capcli.Seconds // see policy.OwnSettings
	Choices     map[string]string         // see policy.OwnChoices
	Guard       capcli.Seconds            // see simulate.Config
	Slurm       *policy.Slurm             // settings of the policy slurm; nil are its defaults
	Round       capcli.Seconds
	Skip        bool
	ByGPUs      bool
	Perfect     bool
	Predictions string // file of job_id,predicted_s; "" is none
}

// Overflow says when, and in which order, jobs move on to elastic capacity.
type Overflow struct {
	Order      []string // kinds or names of pools; pools not named come last, on-demand before spot
	Patience   []simulate.Patience
	PerGPUHour float64 // extra patience in hours for each GPU-hour of the job
	QueueMax   int
}

// Parse reads a scenario, applies the overrides ("capacity[0].gpus=72"; see Set) and checks all of
// it. The error is *strict.Faults, with the place of each fault. file is the name for messages;
// files that the scenario names are relative to its folder.
func Parse(file string, b []byte, overrides ...string) (*Scenario, error) {
	return ParseWith(nil, file, b, overrides...)
}

// ParseWith is Parse with prices of list, which take precedence over those of the scenario's price
// file. The catalogue comes last.
func ParseWith(list *prices.List, file string, b []byte, overrides ...string) (*Scenario, error) {
	return parse(list, nil, file, b, overrides)
}

// parse reads a scenario. own are the prices of its price file. They are nil until that file is
// read; until then an unknown key is no fault, for it may be in the file.
func parse(list, own *prices.List, file string, b []byte, overrides []string) (*Scenario, error) {
	d := &strict.Decoder{Form: &scenarioForm, Overrides: overrides}
	s := &Scenario{File: file, Dir: filepath.Dir(file), source: b, sets: overrides, prices: list, opened: &opened{}}
	if root := d.ReadTree(b); root != nil {
		s.left = override(d, root, overrides)
		d.Context = keys{list.Override(own.Override(prices.Catalogue())), own == nil && strict.Child(root, "prices") != nil}
		readScenario(d, root, s)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(cmp.Or(file, "scenario"), "a template with every field: capcli scenarios init")
	}
	return s, nil
}

// Set changes a field, such as "capacity[0].gpus" or "capacity.base.gpus", and checks
// the scenario again. The value is YAML: 72, easy, [spot, on_demand]. null removes the
// field, and a size of 0 removes the pool. After an error (*strict.Faults) the scenario
// is unchanged.
func (s *Scenario) Set(path, value string) error {
	changed, err := s.With(path + "=" + value)
	if err != nil {
		return err
	}
	*s = *changed
	return nil
}

// With returns a copy of the scenario with further overrides: see Set. The error is
// *strict.Faults.
func (s *Scenario) With(overrides ...string) (*Scenario, error) {
	own := s.own
	if slices.ContainsFunc(overrides, func(o string) bool { return strings.HasPrefix(strings.TrimSpace(o), "prices") }) {
		own = nil // another price file
	}
	return parse(s.prices, own, s.File, s.source, append(s.sets[:len(s.sets):len(s.sets)], overrides...))
}

// readScenario reads the whole file.
func readScenario(d *strict.Decoder, root *yaml.Node, s *Scenario) {
	s.Period = Period{capcli.NoTime, capcli.NoTime}
	s.Seed = defaultSeed
	if !d.IsDescribing(root) && (root.Kind != yaml.MappingNode || strict.Child(root, "capcli") == nil && strict.Child(root, "capacity") == nil) {
		d.Fault(root, "this is no scenario: it begins with capcli: %s and has fields such as capacity", version)
		return
	}
	o := d.ReadObject(root, "the top level", topFields(s))
	o.RequireVersion("scenario")
	o.RequireWith("capacity", "capacity is missing; give at least one, such as - {kind: reserved, gpus: 64, price: 2.20}")
	if d.IsDescribing(root) {
		return
	}
	if given := o.Value("jobs"); o.Has("trace") && given != nil &&
		(given.Kind == yaml.ScalarNode || strict.Child(given, "from") != nil || strict.Child(given, "generate") != nil) {
		o.FaultName("trace", "trace and jobs both say where the jobs come from; leave one out")
	}
	s.Name = cmp.Or(s.Name, strings.TrimSuffix(path.Base(filepath.ToSlash(s.File)), path.Ext(s.File)))
	s.settleFloating()
	s.checkCapacity(o)
	s.checkDiscounts(o)
	s.checkPrices(o)
	s.checkOverflow(o)
	s.checkWorkload(o)
	s.checkShapes(o)
	s.checkPlaces(o)
	s.checkShift(o)
	s.checkKueue(o)
	s.checkServices(o)
	s.checkWorkflows(o)
	s.checkCampaigns(o)
}

// file reads the name of a file.
func file(dst *string) strict.Reader { return strict.Text(dst, 4096) }

// Metered reports, for each pool of Config in order, whether its use costs the on-demand price, so that
// commitments that float may cover it: on-demand capacity, and a capacity reservation at that price.
func (s *Scenario) Metered(o Options) ([]bool, error) {
	files, err := s.load(o.Open)
	if err != nil {
		return nil, err
	}
	var out []bool
	for c := range s.groups(files) {
		out = append(out, c.metered())
	}
	return out, nil
}

// YAML returns the text of the scenario with its overrides in their places. Comments stay; line
// breaks and spaces may differ from those of the file. Files that it names are still relative to
// the folder of the scenario.
func (s *Scenario) YAML() ([]byte, error) {
	d := &strict.Decoder{Form: &scenarioForm, Overrides: s.sets}
	root := d.ReadTree(s.source)
	if root != nil {
		override(d, root, s.sets)
	}
	if d.FaultCount() > 0 || root == nil {
		return nil, d.Refusal(s.File, "")
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}
