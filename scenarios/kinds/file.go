package kinds

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/strict"
)

// version is the version of the file format, in the file's first line: capcli: kinds/v1.
const version = "kinds/v1"

var form = strict.Form{Version: version, What: "a file of kinds of work", Template: "docs/decide.md"}

// Rules say how jobs are told apart, and what is assumed of spot GPUs. NewRules has the defaults.
type Rules struct {
	Lines       []Line
	Redone      float64        // largest share of a job's time that may be expected to be done again on spot GPUs
	Slack       capcli.Seconds // of a deadline that lets a job wait
	Waited      capcli.Seconds // wait in the log that shows that users let jobs wait
	MachineGPUs int            // GPUs of a machine, which is lost as a whole; 0 is not stated
	Held        []Holding      // GPUs that are committed already
	Checkpoint  Checkpoint
	Spot        SpotTerms

	table []Rule
}

// Checkpoint is how jobs that have checkpoints save their work. Their run times have the pauses for them in them.
type Checkpoint struct {
	Every   capcli.Seconds `json:"every_s"`
	Restart capcli.Seconds `json:"restart_s"` // time to get going again, of all jobs
}

// LossSource says where the losses of spot GPUs are from.
type LossSource string

// The sources, the best first.
const (
	StatedLosses  LossSource = "stated"  // the file of kinds states them
	SeenLosses    LossSource = "log"     // jobs of the log that lost their GPUs show them
	AssumedLosses LossSource = "assumed" // nothing tells
)

// usualUp is the mean time until a machine on spot is taken away where nothing tells: once in three days, as in the
// scenario three-tier.
const usualUp = 3 * capcli.Day

// SpotTerms are what is assumed of spot GPUs. Price lists have prices and no losses.
type SpotTerms struct {
	MeanUp   capcli.Seconds `json:"mean_up_s"`   // mean time until a machine is taken away; 0 is not stated
	MeanDown capcli.Seconds `json:"mean_down_s"` // until it can be had again
	Notice   capcli.Seconds `json:"notice_s"`
	Price    string         `json:"price"`    // as scenarios write prices; "" is that of the price list
	MaxGPUs  int            `json:"max_gpus"` // most that can be had; 0 is not stated
	// Source says where MeanUp is from, and Losses is the number of losses that it is the mean of; 0 is none.
	Source LossSource `json:"mean_up_from"`
	Losses int64      `json:"losses_seen"`
}

// Holding is GPUs that are committed already, from a time until another as scenarios write them; "" is no limit.
type Holding struct {
	GPUs        int
	From, Until string
}

// machines returns the machines that a job holds.
func (r *Rules) machines(j *capcli.Job) int {
	each := cmp.Or(r.MachineGPUs, usualMachine)
	return max(1, (j.GPUs+each-1)/each)
}

// usualMachine is the GPUs of a machine where nothing states them.
const usualMachine = 8

// MeanUpOr returns the mean time until a machine is taken away, the assumed one where none is stated.
func (s *SpotTerms) MeanUpOr() capcli.Seconds { return cmp.Or(s.MeanUp, usualUp) }

// SourceText says where the losses are from.
func (s *SpotTerms) SourceText() string {
	switch s.Source {
	case SeenLosses:
		return fmt.Sprintf("as %s jobs of the log lost their GPUs, which another seller's spot need not do", capcli.Grouped(s.Losses))
	case StatedLosses:
		return "as the file of kinds states"
	case AssumedLosses:
	}
	return "an assumption: neither a price list nor this log says it; state it in the file of kinds, spot: {mean_up: 3d}"
}

// Line states the kind of some jobs: those that match all that it says.
type Line struct {
	Kind                              Kind
	Tenant, Partition, Class, ID, Tag string // patterns, * for any text; "" matches all. A tag is NAME=PATTERN
	MinRun, MaxRun                    capcli.Seconds
	MinGPUs, MaxGPUs                  int
	Saves                             *bool
	Because                           string
}

// NewRules returns the rules without lines. A machine on spot can be had again after an hour, as in the scenario
// three-tier; no warning is counted upon.
func NewRules() *Rules {
	return &Rules{
		Redone: 0.2, Slack: 2 * capcli.Hour, Waited: 15 * capcli.Minute,
		Checkpoint: Checkpoint{Every: 30 * capcli.Minute, Restart: 2 * capcli.Minute},
		Spot:       SpotTerms{MeanDown: capcli.Hour},
	}
}

// Limits of a file of kinds.
const (
	maxLines = 1000
	mostGPUs = 1_000_000
)

// Parse reads a file of kinds. The error is *strict.Faults, with the place of each fault.
func Parse(file string, b []byte) (*Rules, error) {
	d := &strict.Decoder{Form: &form}
	out := NewRules()
	if root := d.ReadTree(b); root != nil {
		readRules(d, root, out)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(cmp.Or(file, "kinds"), "an example is in docs/decide.md")
	}
	return out, nil
}

// MaxBytes is the most bytes of a file of kinds.
const MaxBytes = strict.MaxBytes

// RulesAlone stands for a file without lines: see Read.
const RulesAlone = "rules"

// Read opens and parses a file of kinds. The name RulesAlone stands for the rules without a file. It fails with the
// errors of open and of Parse.
func Read(open trace.Opener, name string) (*Rules, error) {
	if name == RulesAlone {
		return NewRules(), nil
	}
	b, err := open.ReadFile(name, strict.MaxBytes)
	if err != nil {
		return nil, err
	}
	return Parse(name, b)
}

// Shape describes a file of kinds.
func Shape() strict.Shape {
	return strict.Describe(&form, nil, func(d *strict.Decoder, n *yaml.Node) { readRules(d, n, NewRules()) })
}

func readRules(d *strict.Decoder, root *yaml.Node, r *Rules) {
	var seen capcli.Seconds
	o := d.ReadObject(root, "the top level", []strict.Field{
		{Name: "capcli", Doc: "the form of this file: " + version, Read: strict.Version},
		{Name: "lines", Doc: "what is known of some jobs; the first line that fits decides", Read: lineSection.List(&r.Lines, maxLines, "lines")},
		{Name: "redone", Doc: "largest share of a job's time that may be expected to be done again on spot GPUs: 0.2", Read: strict.Number(&r.Redone, 0, 1)},
		{Name: "slack", Doc: "slack of a deadline that lets a job wait: 2h", Read: strict.Duration(&r.Slack, 0)},
		{Name: "waited", Doc: "wait in the log that shows that users let jobs wait: 15m", Read: strict.Duration(&r.Waited, 1)},
		{Name: "machine_gpus", Doc: "GPUs of a machine, which is lost as a whole; default: those of the machine whose price is taken, 8 without one", Read: strict.Integer(&r.MachineGPUs, 1, 4096)},
		{Name: "checkpoint_every", Doc: "work between checkpoints of the jobs that have them: 30m", Read: strict.Duration(&r.Checkpoint.Every, 1)},
		{Name: "restart", Doc: "time that a job takes to get going again: 2m", Read: strict.Duration(&r.Checkpoint.Restart, 0)},
		{Name: "spot_mean_up", Doc: "mean time until a machine on spot is taken away, as decide takes it from the log; the same as mean_up of spot", Read: strict.Duration(&seen, 1)},
		{Name: "held", Doc: "GPUs that are committed already: they serve first, and nothing is paid for them", Read: heldSection.List(&r.Held, maxLines, "commitments")},
		{Name: "spot", Doc: "what is assumed of spot GPUs", Read: spotSection.Reader(&r.Spot)},
	})
	if o.Has("spot_mean_up") {
		if r.Spot.MeanUp > 0 {
			o.Fault("spot_mean_up", "spot: mean_up states it too; leave one out")
		}
		r.Spot.MeanUp = seen
	}
	o.RequireWith("capcli", "the line capcli: %s is missing; it says which form of file this is", version)
}

var spotSection = strict.Section[SpotTerms]{Name: "spot", Fields: func(s *SpotTerms) []strict.Field {
	return []strict.Field{
		{Name: "mean_up", Doc: "mean time until a machine is taken away; default: as jobs of the log lost their GPUs, 3d where fewer than 20 did", Read: strict.Duration(&s.MeanUp, 1)},
		{Name: "mean_down", Doc: "mean time until it can be had again: 1h", Read: strict.Duration(&s.MeanDown, 1)},
		{Name: "notice", Doc: "warning before the loss, in which jobs with checkpoints save their work: 30s; default: none", Read: strict.Duration(&s.Notice, 0)},
		{Name: "price", Doc: "of a GPU-hour, 1.20, or a key of the catalogue; default: that of the machine", Read: strict.Name(&s.Price)},
		{Name: "max_gpus", Doc: "most GPUs that can be had; default: as many as the work for them ever wants", Read: strict.Integer(&s.MaxGPUs, 1, mostGPUs)},
	}
}}

var heldSection = strict.Section[Holding]{Name: "held", Needs: []string{"gpus"}, Fields: func(h *Holding) []strict.Field {
	return []strict.Field{
		{Name: "gpus", Doc: "number of GPUs", Read: strict.Integer(&h.GPUs, 1, mostGPUs)},
		{Name: "from", Doc: "held from this time since the start on, such as 30d; default: they are there", Read: strict.Name(&h.From)},
		{Name: "until", Doc: "gone at this time since the start; default: they stay", Read: strict.Name(&h.Until)},
	}
}}

var lineSection = strict.Section[Line]{Name: "lines", Needs: []string{"kind"}, Fields: func(l *Line) []strict.Field {
	return []strict.Field{
		{Name: "kind", Doc: "always, waits, spot or unknown", Read: strict.Choice(&l.Kind, "kind", string(Always), string(Waits), string(Spot), string(Unknown))},
		{Name: "tenant", Doc: "of jobs of these tenants; * stands for any text", Read: pattern(&l.Tenant)},
		{Name: "partition", Doc: "sent to these partitions", Read: pattern(&l.Partition)},
		{Name: "class", Doc: "of these classes", Read: pattern(&l.Class)},
		{Name: "job", Doc: "with these ids", Read: pattern(&l.ID)},
		{Name: "tag", Doc: "with this tag: team=vision*", Read: pattern(&l.Tag)},
		{Name: "min_run", Doc: "that ask for so much time, or run so long", Read: strict.Duration(&l.MinRun, 1)},
		{Name: "max_run", Doc: "and no longer", Read: strict.Duration(&l.MaxRun, 1)},
		{Name: "min_gpus", Doc: "of so many GPUs", Read: strict.Integer(&l.MinGPUs, 1, mostGPUs)},
		{Name: "max_gpus", Doc: "and no more", Read: strict.Integer(&l.MaxGPUs, 1, mostGPUs)},
		{Name: "saves", Doc: "they have checkpoints; default: as their tags say", Read: flag(&l.Saves)},
		{Name: "because", Doc: "why, for the report", Read: strict.Text(&l.Because, 400)},
	}
}, Check: func(o *strict.Object, l *Line) {
	if name, _, ok := strings.Cut(l.Tag, "="); o.Has("tag") && o.IsClean("tag") && (!ok || name == "") {
		o.Fault("tag", "tag is %s; want NAME=PATTERN, such as team=vision*", capcli.Quoted(l.Tag))
	}
	if l.MaxRun > 0 && l.MaxRun < l.MinRun {
		o.Fault("max_run", "max_run is under min_run: no job fits")
	}
	if l.MaxGPUs > 0 && l.MaxGPUs < l.MinGPUs {
		o.Fault("max_gpus", "max_gpus is under min_gpus: no job fits")
	}
}}

// flag reads true or false.
func flag(dst **bool) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var v bool
		before := d.FaultCount()
		if strict.Bool(&v)(d, n); d.FaultCount() == before {
			*dst = &v
		}
	}
}

// pattern reads a pattern in which * stands for any text.
func pattern(dst *string) strict.Reader {
	read := strict.Name(dst)
	return func(d *strict.Decoder, n *yaml.Node) {
		read(d, n)
		if _, err := path.Match(*dst, ""); err != nil {
			d.FaultWant(n, "a pattern in which * stands for any text")
		}
	}
}

// fits reports whether a text fits a pattern. Unlike in file names * stands for a slash too.
func fits(pattern, text string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return pattern == "" || err == nil && ok
}

func (l *Line) matches(j *capcli.Job) bool {
	long := j.Estimate()
	switch {
	case l.MinRun > 0 && long < l.MinRun, l.MaxRun > 0 && long > l.MaxRun, j.GPUs < l.MinGPUs, l.MaxGPUs > 0 && j.GPUs > l.MaxGPUs:
		return false
	case !fits(l.Tenant, j.Tenant), !fits(l.Partition, j.Partition), !fits(l.Class, j.Class), !fits(l.ID, j.ID):
		return false
	}
	if name, value, ok := strings.Cut(l.Tag, "="); ok {
		return fits(value, j.Tags.Value(name))
	}
	return true
}

// text says what the line is about.
func (l *Line) text() string {
	var parts []string
	for _, p := range [][2]string{{"tenant", l.Tenant}, {"partition", l.Partition}, {"class", l.Class}, {"job", l.ID}, {"tag", l.Tag}} {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	if l.MinRun > 0 {
		parts = append(parts, "at least "+l.MinRun.String())
	}
	if l.MaxRun > 0 {
		parts = append(parts, "at most "+l.MaxRun.String())
	}
	if l.MinGPUs > 0 {
		parts = append(parts, fmt.Sprintf("at least %d GPUs", l.MinGPUs))
	}
	if l.MaxGPUs > 0 {
		parts = append(parts, fmt.Sprintf("at most %d GPUs", l.MaxGPUs))
	}
	if len(parts) == 0 {
		return "all jobs"
	}
	return strings.Join(parts, ", ")
}
