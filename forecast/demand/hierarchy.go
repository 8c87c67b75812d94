package demand

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/series"
)

// TotalName is the name of the series that is the sum of all parts.
const TotalName = "total"

// Hierarchy says which series are sums of others.
type Hierarchy struct {
	Sums, Parts []*History
	PartsOf     [][]int // indices in Parts of the parts of each sum
}

// AllHistories returns the sums, then the parts.
func (t *Hierarchy) AllHistories() []*History { return append(slices.Clone(t.Sums), t.Parts...) }

// arrange builds the hierarchy of a table where the request asks for sums: it adds the sums that
// the table lacks and checks the others against their parts. It fails where series do not add up.
func (r *reader) arrange(hs *Histories) error {
	asked := r.Total || r.Separator != ""
	switch {
	case hs.Measure != "" && r.Separator != "":
		return &capcli.RequestError{Text: "--id-sep divides the ids of a table; a job log is divided by --by"}
	case hs.Tree == nil && asked && hs.Measure == "" && r.Combine == "max":
		return &capcli.RequestError{Text: "the peaks of parts do not sum to the peak of the whole", Hint: "leave --agg max out, or --total and --id-sep"}
	case hs.Tree == nil && asked && hs.Measure == "":
		if err := r.grow(hs); err != nil {
			return err
		}
	}
	if hs.Tree != nil {
		hs.List = hs.Tree.AllHistories()
	}
	return nil
}

// grower builds the hierarchy of a table.
type grower struct {
	sep   string // separator between the levels of an id; "" for ids without levels
	gaps  series.Gaps
	hs    *Histories
	label map[*History][]string // the levels of each id
	given map[string]*History   // series of the table that may be sums, by name
	tree  *Hierarchy
	ref   *History // the part with the first stamp
	begin []int    // offset of each part's first value from that of ref, in steps
	end   int      // offset after the last value of any part
}

// grow builds the hierarchy of a table's series.
func (r *reader) grow(hs *Histories) error {
	g := &grower{sep: r.Separator, gaps: r.Gaps, hs: hs, label: map[*History][]string{}, given: map[string]*History{}, tree: &Hierarchy{}}
	g.divide()
	if len(g.tree.Parts) == 0 {
		return nil
	}
	if err := g.align(); err != nil {
		return err
	}
	for _, s := range g.listSums() {
		if err := g.addSum(s); err != nil {
			return err
		}
	}
	hs.Tree = g.tree
	return nil
}

// divide splits the ids into labels, and the series into parts and sums that the table has.
func (g *grower) divide() {
	inner := map[string]bool{}
	for _, h := range g.hs.List {
		labels := []string{h.Name}
		if g.sep != "" {
			labels = strings.Split(h.Name, g.sep)
		}
		g.label[h] = labels
		for n := 1; n < len(labels); n++ {
			inner[strings.Join(labels[:n], g.sep)] = true
		}
	}
	for _, h := range g.hs.List {
		if inner[h.Name] || len(g.hs.List) > 1 && strings.EqualFold(h.Name, TotalName) {
			g.given[h.Name] = h
			continue
		}
		g.tree.Parts = append(g.tree.Parts, h)
	}
}

// sum is a sum to make, with the indices of its parts.
type sum struct {
	name string
	of   []int
}

// listSums returns the sums: the total, the sum for each prefix of ids, and the sum for each label
// at a level where a label occurs after several prefixes (h100 in a/h100 and b/h100).
func (g *grower) listSums() []sum {
	total := TotalName
	for name := range g.given { // keeps the table's own spelling of total
		if strings.EqualFold(name, TotalName) {
			total = name
		}
	}
	out := []sum{{name: total}}
	depth := 0
	for j, h := range g.tree.Parts {
		out[0].of = append(out[0].of, j)
		depth = max(depth, len(g.label[h]))
	}
	for n := 1; n < depth; n++ {
		out = append(out, g.gather(func(labels []string) string {
			if len(labels) <= n {
				return ""
			}
			return strings.Join(labels[:n], g.sep)
		})...)
	}
	for n := 1; n < depth; n++ {
		if g.crosses(n) {
			out = append(out, g.gather(func(labels []string) string {
				if len(labels) <= n {
					return ""
				}
				return labels[n]
			})...)
		}
	}
	taken := map[string]bool{}
	for _, h := range g.tree.Parts {
		taken[h.Name] = true
	}
	for i := range out {
		for taken[out[i].name] {
			out[i].name = "sum of " + out[i].name
		}
		taken[out[i].name] = true
	}
	return out
}

// gather returns a sum for each name that of returns for the labels of a part, in the order in
// which the names first occur. A part with the name "" is in no sum.
func (g *grower) gather(of func(labels []string) string) []sum {
	var out []sum
	at := map[string]int{}
	for j, h := range g.tree.Parts {
		name := of(g.label[h])
		if name == "" {
			continue
		}
		i, seen := at[name]
		if !seen {
			i = len(out)
			at[name] = i
			out = append(out, sum{name: name})
		}
		out[i].of = append(out[i].of, j)
	}
	return out
}

// crosses reports whether some label at level n occurs under several prefixes.
func (g *grower) crosses(n int) bool {
	under := map[string]string{}
	for _, h := range g.tree.Parts {
		labels := g.label[h]
		if len(labels) <= n {
			continue
		}
		before := strings.Join(labels[:n], g.sep)
		if was, seen := under[labels[n]]; seen && was != before {
			return true
		}
		under[labels[n]] = before
	}
	return false
}

// align sets the offsets of all parts relative to the part that begins first. It extends parts
// that end before the others by the rule for gaps. It fails where the steps of parts differ, and
// where no rule says how to extend a part.
func (g *grower) align() error {
	g.ref = g.tree.Parts[0]
	for _, h := range g.tree.Parts {
		if h.Stamp(0) < g.ref.Stamp(0) {
			g.ref = h
		}
	}
	early := 0
	var first *History
	for _, h := range g.tree.Parts {
		at, ok := g.ref.IndexOf(h.Stamp(0))
		if !ok {
			return g.fault(h, fmt.Sprintf("%s has no step at %s, where %s has one", g.ref.Name, h.StampText(0), h.Name), "bring all series to one step: --step 1h")
		}
		g.begin = append(g.begin, at)
		g.end = max(g.end, at+len(h.Values))
	}
	for j, h := range g.tree.Parts {
		if n := g.end - g.begin[j] - len(h.Values); n > 0 {
			if early++; first == nil {
				first = h
			}
			if h.Censoring != nil {
				return g.fault(h, fmt.Sprintf("%s ends before other series: its demand after that is unknown", h.Name), "leave it out, or give its usage to the end")
			}
			if g.gaps == "zero" || g.gaps == "linear" || g.gaps == "previous" {
				h.extend(n, g.gaps)
			}
		}
	}
	if early == 0 {
		return nil
	}
	where := fmt.Sprintf("%d of %d series end before %s, the first is %s at %s", early, len(g.tree.Parts), g.hs.FormatStamp(g.ref.Stamp(g.end-1)), first.Name, first.StampText(len(first.Values)-1))
	if g.gaps == "" || g.gaps == "missing" || g.gaps == "error" {
		return g.fault(first, where+": a sum needs all of its parts", "say what came after: --gaps zero, previous or linear")
	}
	g.hs.Notes = append(g.hs.Notes, where+": filled (--gaps "+string(g.gaps)+")")
	return nil
}

func (g *grower) fault(h *History, text, hint string) error {
	return &capcli.InputError{File: strings.Join(g.hs.Inputs, ", "), Field: h.Name, Text: text, Hint: hint}
}

// extend appends n values: zeros where how is series.Zero, else the last known value.
func (h *History) extend(n int, how series.Gaps) {
	v := 0.0
	if how != series.Zero {
		v = LastKnown(h.Values)
	}
	h.Values = slices.Clone(h.Values)
	for range n {
		h.Values = append(h.Values, v)
	}
	h.Filled += n
}

// addSum computes a sum and adds it to the hierarchy. A part counts as 0 before its first value.
// The sum has a gap where one of its parts has one. addSum fails where the table has the sum with
// other values.
func (g *grower) addSum(s sum) error {
	values := make([]float64, g.end)
	begin := g.end
	for _, j := range s.of {
		begin = min(begin, g.begin[j])
		for i, v := range g.tree.Parts[j].Values {
			values[g.begin[j]+i] += v
		}
	}
	h := &History{Regular: series.Regular{Series: g.ref.Series, Grid: g.ref.Grid, First: g.ref.First, Stride: g.ref.Stride}, Set: g.hs}
	h.Name, h.Values = s.name, values[begin:]
	h.First += int64(begin) * h.Stride
	if g.hs.Clock {
		h.Grid.Origin = h.Grid.At(begin)
		h.Start = h.Grid.Origin
	}
	if h.Gaps = h.Missing(); h.Gaps > 0 {
		h.Warnings = append(h.Warnings, fmt.Sprintf("%d of %d values are missing, for one of its parts is (--gaps zero to count them as 0)", h.Gaps, len(h.Values)))
	}
	if given := g.given[s.name]; given != nil {
		if err := g.checkSum(given, h, len(s.of)); err != nil {
			return err
		}
	}
	g.tree.Sums, g.tree.PartsOf = append(g.tree.Sums, h), append(g.tree.PartsOf, s.of)
	return nil
}

// checkSum returns an error where given, a sum in the table, differs from h, the sum of its parts.
func (g *grower) checkSum(given, h *History, parts int) error {
	for i, v := range given.Values {
		at, ok := h.IndexOf(given.Stamp(i))
		if !ok || at < 0 || at >= len(h.Values) || math.IsNaN(v) || math.IsNaN(h.Values[at]) {
			continue
		}
		if math.Abs(v-h.Values[at]) > 1e-6*math.Max(math.Abs(v), math.Abs(h.Values[at]))+1e-9 {
			return g.fault(given, fmt.Sprintf("expected %g at %s, the sum of its %d parts, found %g", h.Values[at], given.StampText(i), parts, v), "leave the sum out of the table, or correct it")
		}
	}
	return nil
}
