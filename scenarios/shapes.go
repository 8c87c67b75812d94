package scenarios

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/choose"
	"capcli/simulate/width"
)

// ShapeRule says how jobs of one kind may run: on how many GPUs of which models, and how long that takes.
// The run time that a job states is that of the GPUs and the model that it asks for.
type ShapeRule struct {
	Name                                string
	Classes, Tenants, Partitions, Asked []string // the jobs that it is for; empty is all
	Widths                              Widths
	Models                              []ModelSpeed
	Reference                           string // model of the run time of jobs that ask for none; "" is the first of Models
	Scaling                             *Scaling
	Steps                               int64 // work of each job, in steps of the table; 0 is by its run time

	Needs   capcli.Needs
	Uses    *useRules // nil takes nothing that running jobs share
	Profile string    // MIG profile, or smallest; "" is none
	Near    capcli.Near
	reduce  *allReduce // makes the slowdowns of Near; nil if they are stated
	Data    *capcli.Data

	line int
}

// Widths are numbers of GPUs.
type Widths struct {
	List     []int // as given, or a range doubled
	Down, Up int   // or from the job's own divided by Down to its own times Up, doubled; 0 is not given
}

// ModelSpeed is a model of GPU and how fast it is.
type ModelSpeed struct {
	Name  string
	Speed string // decimal; "" is by the table

	line int
}

// Scaling says how the run time changes with the number of GPUs. One of Serial, Comm, Times and Table is
// set.
type Scaling struct {
	Serial string // share that does not get faster with more GPUs: Amdahl's law
	Comm   string // share of the run time that is spent on communication on At GPUs
	At     int
	Times  []width.Point
	Table  string // file of measured rates or times

	Job, Batch, Source, Consolidated string // rows of the table
}

// Choosing says which of its ways a job takes: see package choose.
type Choosing struct {
	Rule string // "" is asked
	Wait capcli.Seconds
}

const (
	maxWidths = 64
	maxModels = 64
)

// shapeRules reads the rules and refuses repeated names.
func shapeRules(s *Scenario) strict.Reader {
	lines := map[string]int{}
	section := shapeSection
	section.Check = func(o *strict.Object, r *ShapeRule) {
		r.line = o.Node.Line
		if line, twice := lines[r.Name]; twice && r.Name != "" {
			o.Fault("name", "shape %s is there twice, first in line %d", capcli.Quoted(r.Name), line)
		}
		lines[r.Name] = o.Node.Line
		r.check(o)
	}
	return section.List(&s.Shapes, maxList, "shapes")
}

var shapeSection = strict.Section[ShapeRule]{Name: "shapes", Needs: []string{"name"}, Fields: func(r *ShapeRule) []strict.Field {
	fields := []strict.Field{
		{"name", "what the shape is called; a class of jobs.generate may name it", strict.Name(&r.Name)},
		{"classes", "kinds of work that it is for; default: all, the first shape that fits a job counts", strict.Names(&r.Classes, "classes")},
		{"tenants", "tenants that it is for", strict.Names(&r.Tenants, "tenants")},
		{"partitions", "partitions that it is for", strict.Names(&r.Partitions, "partitions")},
		{"asked", "GPU models that its jobs ask for", strict.Names(&r.Asked, "GPU models")},
		{"gpus", "GPUs that a job may run on: 8..64 (8, 16, 32, 64), [8, 24, 64], or x1/4..x2 of its own", readWidths(&r.Widths)},
		{"models", "models that it may run on, with their speeds: {H100: 1, A100: 0.42}; with a table a list: [H100, A100]", readModels(&r.Models)},
		{"reference", "model of the run time of a job that asks for none; default: the first of models", strict.Name(&r.Reference)},
		{"scaling", "how the run time changes with the GPUs: {amdahl: 0.05}, {comm_share: 0.2, at: 8}, {times: {64: 8h, 16: 32h}} or {table: rates.csv}", scalingSection.Pointer(&r.Scaling)},
		{"near", "how near to each other its GPUs must be, and what it costs if they are not: {mode: required, level: rack}", readNear(&r.Near, &r.reduce)},
		{"uses", "what its jobs take of what running jobs share: {store_gib_per_s: 2, host_cpus: 12, net_gib_per_s: {each: 5, share: 30%}}", usesSection.Pointer(&r.Uses)},
		{"data", "where its data lies and where it may run: {home: aws/us-east-1, gib: 500, only: [aws]}", dataSection.Pointer(&r.Data)},
		{"steps", "work of a job in steps of the table, in place of its run time", strict.Integer(&r.Steps, 1, 1<<50)},
	}
	return append(fields, needFields(r)...)
}}

var scalingSection = strict.Section[Scaling]{Name: "shapes.scaling", Fields: func(s *Scaling) []strict.Field {
	return []strict.Field{
		{"amdahl", "share of the run time on one GPU that more GPUs do not shorten, 0 to 1", decimal(&s.Serial, 1)},
		{"comm_share", "share of the run time that gradients are summed in on at GPUs, 0 to 1", decimal(&s.Comm, 1)},
		{"at", "number of GPUs at which comm_share was measured", strict.Integer(&s.At, 2, maxGPUs)},
		{"times", "run times as measured or known: {64: 8h, 16: 32h}; only these numbers of GPUs", readTimes(&s.Times)},
		{"table", "file of gpu_model, gpus and steps_per_s or seconds; 0 is that the job does not run there", file(&s.Table)},
		{"job_type", "table: the job_type of the rows", strict.Name(&s.Job)},
		{"batch_size", "table: the batch_size of the rows", strict.Name(&s.Batch)},
		{"source", "table: the source of the rows", strict.Name(&s.Source)},
		{"consolidated", "table: the consolidated of the rows, 1 on one server or 0 spread", strict.Name(&s.Consolidated)},
	}
}, Check: func(o *strict.Object, s *Scaling) {
	var given []string
	for _, name := range []string{"amdahl", "comm_share", "times", "table"} {
		if o.Has(name) {
			given = append(given, name)
		}
	}
	switch {
	case len(given) == 0:
		o.FaultMissing("amdahl", "scaling needs one of amdahl, comm_share, times and table")
	case len(given) > 1:
		o.FaultName(given[1], "%s and %s both say how the run time changes; leave one out", given[0], given[1])
	case o.Has("comm_share") != o.Has("at"):
		o.FaultMissing("at", "comm_share and at go together: {comm_share: 0.2, at: 8}")
	}
	if !o.Has("table") {
		o.FaultEach([]string{"job_type", "batch_size", "source", "consolidated"}, "%s chooses rows of a table; there is none")
	}
}}

// choosingSection is the long form of widths.
var choosingSection = strict.Section[Choosing]{Name: "widths", Needs: []string{"rule"}, Fields: func(c *Choosing) []strict.Field {
	return []strict.Field{
		{"rule", "which way a job with a shape takes: " + strings.Join(choose.Catalog.Names(), ", "), strict.Choice(&c.Rule, "rule", choose.Catalog.Names()...)},
		{"wait", "how long a job holds out for its best way before it takes what fits; default: not at all", strict.Duration(&c.Wait, 0)},
	}
}}

// readChoosing reads the name of a rule, or the section.
func readChoosing(dst *Choosing) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			strict.Choice(&dst.Rule, "rule of widths", choose.Catalog.Names()...)(d, n)
			return
		}
		choosingSection.Read(d, n, dst)
	}
}

func (r *ShapeRule) check(o *strict.Object) {
	many := len(r.Widths.List) > 1 || r.Widths.Up*r.Widths.Down > 1
	switch s := r.Scaling; {
	case s == nil && many:
		o.FaultMissing("scaling", "jobs of several widths need scaling: how does the run time change with the GPUs?")
	case s != nil && s.Table != "":
		for _, m := range r.Models {
			if m.Speed != "" {
				o.Fault("models", "the speeds are those of the table; give the names alone: [%s]", m.Name)
				break
			}
		}
	case s != nil && len(s.Times) > 0 && o.Has("gpus"):
		o.FaultName("gpus", "gpus and times both say how wide a job may be; leave one out")
	case s != nil && s.Table == "" && len(s.Times) == 0 && !o.Has("gpus"):
		o.FaultMissing("gpus", "scaling is of jobs that have a choice; give gpus, such as 8..64")
	}
	table := r.Scaling != nil && r.Scaling.Table != ""
	for _, m := range r.Models {
		if m.Speed == "" && !table && len(r.Models) > 1 {
			o.Fault("models", "give each model its speed: {%s: 1, …}", m.Name)
			break
		}
	}
	if o.Has("steps") && !table {
		o.Fault("steps", "steps are of a table, which says how many are done in a second")
	}
	if r.Reference != "" && !slices.ContainsFunc(r.Models, func(m ModelSpeed) bool { return strings.EqualFold(m.Name, r.Reference) }) && !table {
		o.Fault("reference", "reference %s is none of the models", capcli.Quoted(r.Reference))
	}
}

// decimal reads a decimal number of 0 to hi, as text, so that no digit is lost.
func decimal(dst *string, hi int64) strict.Reader {
	form := fmt.Sprintf("a number of 0 to %d", hi)
	return strict.Value(dst, form, form, func(s string) (string, bool) {
		r, err := width.ParseDecimal(s)
		return s, err == nil && r.Sign() >= 0 && r.Cmp(big.NewRat(hi, 1)) <= 0
	})
}

// readWidths reads 8..64, x1/4..x2, a number, or a list.
func readWidths(dst *Widths) strict.Reader {
	const form = "GPUs such as 8..64, [8, 24, 64] or x1/4..x2"
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			d.ReadList(n, maxWidths, "GPUs", func(_ int, n *yaml.Node) {
				g := 0
				if strict.Integer(&g, 1, maxGPUs)(d, n); g > 0 {
					dst.List = append(dst.List, g)
				}
			})
			slices.Sort(dst.List)
			dst.List = slices.Compact(dst.List)
			return
		}
		strict.Value(dst, form, form, parseWidths)(d, n)
	}
}

func parseWidths(text string) (w Widths, ok bool) {
	from, to, two := strings.Cut(text, "..")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	if !two {
		to = from
	}
	if strings.HasPrefix(from, "x") {
		down, isDown := parseTimes(from)
		up, isUp := parseTimes(to)
		return Widths{Down: max(1, -down), Up: up}, two && isDown && isUp && down <= 1 && up >= 1
	}
	lo, err := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || lo < 1 || hi < lo || hi > maxGPUs {
		return w, false
	}
	for g := lo; g < hi; g *= 2 {
		w.List = append(w.List, g)
	}
	w.List = append(w.List, hi)
	return w, true
}

// parseTimes reads x2 as 2 and x1/4 as -4; x1 is 1.
func parseTimes(text string) (int, bool) {
	text = strings.TrimPrefix(text, "x")
	if under, is := strings.CutPrefix(text, "1/"); is {
		v, err := strconv.Atoi(under)
		return -v, err == nil && v >= 1 && v <= 4096
	}
	v, err := strconv.Atoi(text)
	return v, err == nil && v >= 1 && v <= 4096
}

// readModels reads the models with their speeds, or a list of their names.
func readModels(dst *[]ModelSpeed) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			d.ReadList(n, maxModels, "GPU models", func(_ int, n *yaml.Node) {
				m := ModelSpeed{line: n.Line}
				if strict.Name(&m.Name)(d, n); m.Name != "" {
					*dst = append(*dst, m)
				}
			})
			return
		}
		speed := func(m *ModelSpeed) strict.Reader { return positiveDecimal(&m.Speed) }
		if d.AcceptsMap(n, ".", speed(&ModelSpeed{})) {
			return
		}
		d.ReadMap(n, "models with their speeds, such as {H100: 1, A100: 0.42}", maxModels, func(key, value *yaml.Node) {
			m := ModelSpeed{line: key.Line}
			strict.Name(&m.Name)(d, key)
			speed(&m)(d, value)
			if slices.ContainsFunc(*dst, func(x ModelSpeed) bool { return strings.EqualFold(x.Name, m.Name) }) {
				d.Fault(key, "%s is there twice", capcli.Quoted(m.Name))
			}
			*dst = append(*dst, m)
		})
	}
}

// positiveDecimal reads a decimal number over 0.
func positiveDecimal(dst *string) strict.Reader {
	const form = "a speed over 0, such as 0.42"
	return strict.Value(dst, form, form, func(s string) (string, bool) {
		r, err := width.ParseDecimal(s)
		return s, err == nil && r.Sign() > 0 && r.Cmp(big.NewRat(1e6, 1)) <= 0 && r.Cmp(big.NewRat(1, 1e6)) >= 0
	})
}

// readTimes reads run times by number of GPUs.
func readTimes(dst *[]width.Point) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var run capcli.Seconds
		if d.AcceptsMap(n, "^[1-9][0-9]*$", strict.Duration(&run, 1)) {
			return
		}
		d.ReadMap(n, "run times by GPUs, such as {64: 8h, 16: 32h}", maxWidths, func(key, value *yaml.Node) {
			var p width.Point
			strict.Integer(&p.GPUs, 1, maxGPUs)(d, key)
			strict.Duration(&p.Run, 1)(d, value)
			if slices.ContainsFunc(*dst, func(x width.Point) bool { return x.GPUs == p.GPUs }) {
				d.Fault(key, "%d GPUs are there twice", p.GPUs)
			}
			*dst = append(*dst, p)
		})
	}
}
