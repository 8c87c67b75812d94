package scenarios

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate"
	"capcli/simulate/width"
)

// nearSpec is near as a scenario states it. Slowdown comes from a table, or from a share of communication
// and the bandwidth by level.
type nearSpec struct {
	capcli.Near
	mode      string
	comm      string
	bandwidth []levelNumber
	slowdown  []levelNumber
	reduce    allReduce
}

// levelNumber is a number by level of domains, as written.
type levelNumber struct{ level, number string }

const maxLevels = 8

var nearModes = []string{"anywhere", "required", "preferred", "unconstrained"}

var nearSection = strict.Section[nearSpec]{Name: "shapes.near", Fields: func(n *nearSpec) []strict.Field {
	return append([]strict.Field{
		{"mode", "how strictly a job is kept within a domain: required, preferred (the narrowest from level up), unconstrained (the fewest leftovers); default: anywhere, by the placement", strict.Choice(&n.mode, "mode", nearModes...)},
		{"level", "level of domains that mode and beside are about: node, or one that a pool has", strict.Name(&n.Level)},
		{"segment", "GPUs that must share one domain of segment_level; a job is whole segments, or smaller than one", strict.Integer(&n.SliceGPUs, 1, maxGPUs)},
		{"segment_level", "level of domains that holds a segment", strict.Name(&n.SliceLevel)},
		{"worker", "GPUs of one worker, which no two nodes share; default: the job where a node holds it, else whole nodes", strict.Integer(&n.WorkerGPUs, 1, maxPerNode)},
		{"slowdown", "factor on the run time by the narrowest level that holds the job: {node: 1, rack: 1.05, cluster: 1.6}", levelNumbers(&n.slowdown, "factors by level such as {node: 1, rack: 1.05, cluster: 1.6}")},
		{"comm_share", "share of the run time within one node that is spent on communication, 0 to 1; needs bandwidth", decimal(&n.comm, 1)},
		{"bandwidth", "bandwidth of a GPU by level, in any unit: {node: 900, rack: 400, cluster: 50}", levelNumbers(&n.bandwidth, "bandwidths by level such as {node: 900, rack: 400, cluster: 50}")},
		{"apart", "level in whose domains no two jobs of the shape may be", strict.Name(&n.Apart)},
		{"beside", "name of a shape: the job starts only in a domain of level in which a job of it runs", strict.Name(&n.Beside)},
	}, reduceFields(&n.reduce)...)
}, Check: func(o *strict.Object, n *nearSpec) { n.check(o) }}

func readNear(dst *capcli.Near, reduce **allReduce) strict.Reader {
	return func(d *strict.Decoder, node *yaml.Node) {
		var n nearSpec
		if nearSection.Read(d, node, &n); !d.IsDescribing(node) {
			if *dst = n.Near; n.reduce.gib != "" {
				*reduce = &n.reduce
			}
		}
	}
}

// check checks the fields together and finishes the values.
func (n *nearSpec) check(o *strict.Object) {
	n.Mode = capcli.NearMode(max(0, slices.Index(nearModes, n.mode)))
	narrow := n.Mode == capcli.Required || n.Mode == capcli.Preferred
	switch {
	case narrow && !o.Has("level"):
		o.FaultMissing("level", "mode %s needs a level: node, or one that a pool's domains have", n.mode)
	case o.Has("level") && !narrow && !o.Has("beside"):
		o.FaultName("level", "level is of mode required and preferred, and of beside; give one")
	case o.Has("beside") && !o.Has("level"):
		o.FaultMissing("level", "beside needs a level: node, or one that a pool's domains have")
	}
	switch {
	case o.Has("segment") != o.Has("segment_level"):
		o.FaultMissing("segment_level", "segment and segment_level go together: {segment: 16, segment_level: rack}")
	case o.Has("segment") && n.Mode == capcli.Anywhere:
		o.FaultName("segment", "segments need a mode: required, preferred or unconstrained")
	case o.Has("worker") && n.SliceGPUs%max(1, n.WorkerGPUs) != 0:
		o.Fault("worker", "a segment of %d GPUs is no whole number of workers of %d", n.SliceGPUs, n.WorkerGPUs)
	case o.Has("worker") && n.Mode == capcli.Anywhere:
		o.FaultName("worker", "workers need a mode: required, preferred or unconstrained")
	}
	switch {
	case o.Has("slowdown") && o.Has("comm_share"):
		o.FaultName("comm_share", "slowdown and comm_share both say what it costs to be spread; leave one out")
	case o.Has("gradient_gib"):
		if n.reduce.bandwidth = n.bandwidth; o.IsClean("gradient_gib", "step_s", "bandwidth", "latency_us") {
			for _, x := range n.bandwidth { // of a job of any width: see shapeOf
				n.Slowdown = append(n.Slowdown, capcli.Slowdown{Level: x.level, Num: 1, Den: 1})
			}
		}
	case o.Has("comm_share") != o.Has("bandwidth"):
		o.FaultMissing("bandwidth", "comm_share and bandwidth go together: {comm_share: 0.2, bandwidth: {node: 900, rack: 400, cluster: 50}}")
	case o.Has("bandwidth") && o.IsClean("comm_share", "bandwidth"):
		n.fromShare(o)
	case o.IsClean("slowdown"):
		n.fromTable(o)
	}
	n.reduce.check(o)
}

// fromTable takes the factors as written.
func (n *nearSpec) fromTable(o *strict.Object) {
	for _, x := range n.slowdown {
		r, _ := width.ParseDecimal(x.number)
		n.addSlowdown(o, "slowdown", x.level, r)
	}
}

// fromShare makes the factors of a share of communication. A ring all-reduce takes a time in inverse
// proportion to the bandwidth of its slowest link (Patarasuk and Yuan, JPDC 69:2, 2009), and the
// computation stays (Amdahl 1967): with a share c of the run time at bandwidth B0 within a node, the factor
// at bandwidth B is 1 - c + c B0/B.
func (n *nearSpec) fromShare(o *strict.Object) {
	at := slices.IndexFunc(n.bandwidth, func(x levelNumber) bool { return x.level == simulate.NodeLevel })
	if at < 0 {
		o.Fault("bandwidth", "the bandwidth within a node is missing: the run time of a job is that within one node")
		return
	}
	c, _ := width.ParseDecimal(n.comm)
	within, _ := width.ParseDecimal(n.bandwidth[at].number)
	for _, x := range n.bandwidth {
		b, _ := width.ParseDecimal(x.number)
		f := new(big.Rat).Quo(within, b)
		f.Mul(f, c).Add(f, new(big.Rat).Sub(big.NewRat(1, 1), c))
		n.addSlowdown(o, "bandwidth", x.level, f)
	}
}

func (n *nearSpec) addSlowdown(o *strict.Object, field, level string, f *big.Rat) {
	if !f.Num().IsInt64() || !f.Denom().IsInt64() || f.Sign() <= 0 {
		o.Fault(field, "the factor for %s has too many digits", capcli.Quoted(level))
		return
	}
	n.Slowdown = append(n.Slowdown, capcli.Slowdown{Level: level, Num: f.Num().Int64(), Den: f.Denom().Int64()})
}

// levelNumbers reads numbers over 0 by level.
func levelNumbers(dst *[]levelNumber, want string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if d.AcceptsMap(n, ".", positiveDecimal(new(string))) {
			return
		}
		d.ReadMap(n, want, maxLevels, func(key, value *yaml.Node) {
			var x levelNumber
			before := d.FaultCount()
			strict.Name(&x.level)(d, key)
			positiveDecimal(&x.number)(d, value)
			if slices.ContainsFunc(*dst, func(o levelNumber) bool { return o.level == x.level }) {
				d.Fault(key, "%s is there twice", capcli.Quoted(x.level))
			}
			if d.FaultCount() == before {
				*dst = append(*dst, x)
			}
		})
	}
}

// NearShapes returns the names of the shapes that say how near to each other their GPUs must be.
func (s *Scenario) NearShapes() (out []string) {
	for i := range s.Shapes {
		if !s.Shapes[i].Near.IsZero() {
			out = append(out, s.Shapes[i].Name)
		}
	}
	return out
}

// checkNear checks the levels and the shapes that near names.
func (s *Scenario) checkNear(o *strict.Object) {
	levels := []string{simulate.NodeLevel}
	hasNodes := false
	for i := range s.Capacity {
		c := &s.Capacity[i]
		for _, d := range c.Domains {
			if !slices.Contains(levels, d.Level) {
				levels = append(levels, d.Level)
			}
		}
		hasNodes = hasNodes || c.Nodes > 0 || c.NodesFile != ""
	}
	var names []string
	for i := range s.Shapes {
		names = append(names, s.Shapes[i].Name)
	}
	list := strict.Child(o.Node, "shapes")
	for i := range s.Shapes {
		n := &s.Shapes[i].Near
		if n.IsZero() || list == nil || i >= len(list.Content) {
			continue
		}
		at := strict.Child(list.Content[i], "near")
		if n.Beside != "" && !slices.Contains(names, n.Beside) {
			faultNear(o, at, "beside", "unknown shape %s: have %s%s", capcli.Quoted(n.Beside), strings.Join(names, ", "), capcli.DidYouMean(n.Beside, names))
		}
		if n.Mode == capcli.Required && !hasNodes {
			faultNear(o, at, "mode", "the pools are numbers of GPUs without nodes, so nobody knows how near they are; give nodes and gpus_per_node")
		}
		for _, x := range levelsOf(n) {
			if !slices.Contains(levels, x.level) && (x.level != simulate.ClusterLevel || !x.table) {
				faultNear(o, at, x.field, "no pool has domains of level %s: have %s%s", capcli.Quoted(x.level), strings.Join(levels, ", "), capcli.DidYouMean(x.level, levels))
			}
		}
	}
}

// namedLevel is a level that near names, and the field that names it.
type namedLevel struct {
	field, level string
	table        bool // a table by level, which may have the cluster too
}

func levelsOf(n *capcli.Near) []namedLevel {
	var out []namedLevel
	for _, x := range []namedLevel{{"level", n.Level, false}, {"segment_level", n.SliceLevel, false}, {"apart", n.Apart, false}} {
		if x.level != "" {
			out = append(out, x)
		}
	}
	for _, x := range n.Slowdown {
		out = append(out, namedLevel{"slowdown", x.Level, true})
	}
	return out
}

// faultNear faults a field of near; the whole of it where the field is not there.
func faultNear(o *strict.Object, near *yaml.Node, field, format string, args ...any) {
	at := near
	for _, name := range []string{field, "bandwidth"} {
		if n := strict.Child(near, name); n != nil && field != "" {
			at = n
			break
		}
	}
	o.Decoder.Fault(at, "%s", fmt.Sprintf(format, args...))
}
