package mig

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
)

// FitRequest asks whether instances fit on one GPU together.
type FitRequest struct {
	GPU      string
	Profiles []string // in the order in which they are made; "1g.10gb=4" is four of them
}

// Fit is the answer to a FitRequest.
type Fit struct {
	Schema        string   `json:"schema"`
	GPU           string   `json:"gpu"`
	Profiles      []string `json:"profiles"`
	Placeable     bool     `json:"placeable"`
	Reason        Reason   `json:"reason"`
	Why           string   `json:"why,omitempty"`
	ComputeSlices int      `json:"compute_slices"`
	MemorySlices  int      `json:"memory_slices"`
	Lowest        Line     `json:"lowest_start_first"`
	Driver        *Line    `json:"driver_order"` // null where the guide does not say the order
	OrdersOK      int64    `json:"orders_ok"`
	OrdersFail    int64    `json:"orders_fail"`
	Beside        []string `json:"beside"` // profiles of which one more fits, if all is placed anew
	Notes         []string `json:"notes,omitempty"`
}

// Line is what becomes of instances that are made one after another.
type Line struct {
	Starts  []int    `json:"starts"`   // of those that can be made, up to the first that cannot
	FailsAt *int     `json:"fails_at"` // index of the first that cannot be made; null if all can
	Order   []string `json:"works_in"` // an order in which all can be made; null if there is none
}

// Check refuses a request without a profile.
func (q *FitRequest) Check() error {
	if len(q.Profiles) == 0 {
		return &capcli.RequestError{Text: "no profile is named", Hint: "name one or more, such as 3g.40gb 1g.10gb=4; capcli mig list has them"}
	}
	return nil
}

// RunFit answers whether the instances of a request fit on one GPU.
func RunFit(q *FitRequest) (*Fit, error) {
	g, mix, err := q.read()
	if err != nil {
		return nil, err
	}
	r := &Fit{Schema: "capcli/mig_fit/v1", GPU: g.Name, Profiles: g.spellOut(mix), Reason: g.Check(mix), Beside: []string{}}
	r.Placeable, r.Why = r.Reason == Fits, r.Reason.Explain(g)
	for _, p := range mix {
		r.ComputeSlices += g.Profiles[p].Compute
		r.MemorySlices += g.Profiles[p].Memory
	}
	r.Lowest = g.line(mix, false, r.Placeable)
	if g.HasDriverOrder(mix) {
		line := g.line(mix, true, r.Placeable)
		r.Driver = &line
	} else {
		r.Notes = append(r.Notes, "the guide shows the driver's order of starts for an A100 alone, and there not for profiles with +me or double memory: on a card, try this mix in its order before you rely on it")
	}
	if r.Placeable {
		r.OrdersOK, r.OrdersFail = g.orders(mix)
		for p := range g.Profiles {
			if g.Check(append(slices.Clip(mix), p)) == Fits {
				r.Beside = append(r.Beside, g.Profiles[p].Name)
			}
		}
	}
	return r, nil
}

func (q *FitRequest) read() (*GPU, []int, error) {
	if err := q.Check(); err != nil {
		return nil, nil, err
	}
	g, err := Find(q.GPU)
	if err != nil {
		return nil, nil, err
	}
	mix, err := g.Read(q.Profiles)
	return g, mix, err
}

// line answers what becomes of a mix in its order, and in which order all of it works.
func (g *GPU) line(mix []int, driver, placeable bool) (l Line) {
	starts, failsAt := g.Line(mix, driver)
	l.Starts = starts
	switch {
	case failsAt < 0:
		l.Order = g.spellOut(mix)
	case placeable:
		l.FailsAt = &failsAt
		if order := g.workingOrder(mix, driver); order != nil {
			l.Order = g.spellOut(order)
		}
	default:
		l.FailsAt = &failsAt
	}
	return l
}

// spellOut returns the names of the profiles of a mix.
func (g *GPU) spellOut(mix []int) []string {
	return capcli.Map(mix, func(p int) string { return g.Profiles[p].Name })
}

// FleetRequest asks how many GPUs instances need.
type FleetRequest struct {
	GPU      string
	Profiles []string // "1g.10gb=40" is forty of them
}

// Fleet is the answer to a FleetRequest.
type Fleet struct {
	Schema           string   `json:"schema"`
	GPU              string   `json:"gpu"`
	Instances        int      `json:"instances"`
	FewestGPUs       int      `json:"min_gpus"`
	Proved           bool     `json:"proved"`   // whether no fewer GPUs do
	AtLeast          int      `json:"at_least"` // GPUs that are needed at least, whatever the search found
	InOrderGPUs      int      `json:"in_order"`
	LargestFirstGPUs int      `json:"largest_first"`
	Layouts          []Same   `json:"layouts"` // of the fewest GPUs, one of several answers
	ComputeSlices    int      `json:"compute_slices"`
	FreeCompute      int      `json:"free_compute_slices"`
	Stranded         int      `json:"stranded_compute_slices"` // of the free ones: no profile fits on them
	FreeMemory       int      `json:"free_memory_slices"`
	WholeGPUs        int      `json:"whole_gpus"` // needed if every instance had a GPU of its own
	Notes            []string `json:"notes,omitempty"`
}

// Same is a number of GPUs with the same instances.
type Same struct {
	GPUs      int    `json:"gpus"`
	Instances []Part `json:"instances"`
}

// Part is a number of instances of one profile.
type Part struct {
	Profile string `json:"profile"`
	Count   int    `json:"count"`
}

// RunFleet answers how many GPUs the instances of a request need.
func RunFleet(q *FleetRequest) (*Fleet, error) {
	g, mix, err := (*FitRequest)(q).read()
	if err != nil {
		return nil, err
	}
	gpus, bound, proved := g.Pack(mix)
	r := &Fleet{
		Schema: "capcli/mig_fleet/v1", GPU: g.Name, Instances: len(mix), FewestGPUs: len(gpus), Proved: proved, AtLeast: bound,
		InOrderGPUs: len(g.FirstFit(mix)), LargestFirstGPUs: len(g.LargestFirst(mix)), WholeGPUs: len(mix),
	}
	if proved {
		r.AtLeast = r.FewestGPUs
	} else {
		r.Notes = append(r.Notes, fmt.Sprintf("the search ended before it had tried everything: fewer than %d GPUs may do, at least %d are needed", r.FewestGPUs, bound))
	}
	for i := range gpus {
		s := &gpus[i]
		r.ComputeSlices += int(s.Compute)
		r.FreeCompute += g.Compute - int(s.Compute)
		r.FreeMemory += g.FreeMemory(s)
		r.Stranded += g.Stranded(s)
		r.Layouts = addSame(r.Layouts, g.parts(s.count))
	}
	if r.InOrderGPUs > r.FewestGPUs {
		r.Notes = append(r.Notes, "made in the order given, each on the first GPU with room, they need more GPUs: an instance does not move once it is made")
	}
	return r, nil
}

// Stranded returns the free compute slices of a GPU that no further instances can take, whatever their
// profiles, while those that are there stay.
func (g *GPU) Stranded(s *Layout) int {
	most := 0
	var grow func(s Layout, got int)
	grow = func(s Layout, got int) {
		most = max(most, got)
		for p := range g.Profiles {
			for _, at := range g.Profiles[p].Starts {
				if g.IsFree(&s, p, at) && most < g.Compute-int(s.Compute)+got {
					next := s
					g.Make(&next, p, at)
					grow(next, got+g.Profiles[p].Compute)
				}
			}
		}
	}
	grow(*s, 0)
	return g.Compute - int(s.Compute) - most
}

// parts spells how many instances of each profile there are, without the profiles of which there are none.
func (g *GPU) parts(count [maxProfiles]uint8) (parts []Part) {
	for p := range g.Profiles {
		if count[p] > 0 {
			parts = append(parts, Part{g.Profiles[p].Name, int(count[p])})
		}
	}
	return parts
}

// addSame adds a GPU with so many instances to those with the same.
func addSame(all []Same, parts []Part) []Same {
	for i := range all {
		if slices.Equal(all[i].Instances, parts) {
			all[i].GPUs++
			return all
		}
	}
	return append(all, Same{1, parts})
}

// ListRequest asks for the profiles of a GPU.
type ListRequest struct{ GPU string }

// List is the answer to a ListRequest. The mixes are of profiles without the media engines.
type List struct {
	Schema              string        `json:"schema"`
	GPU                 string        `json:"gpu"`
	ComputeSlices       int           `json:"compute_slices"`
	MemorySlices        int           `json:"memory_slices"`
	MemGiB              int64         `json:"memory_gib"`
	Profiles            []ProfileInfo `json:"profiles"`
	LegalMixes          int           `json:"legal_mixes"`
	MaximalMixes        [][]Part      `json:"maximal_mixes"`
	MaximalPlacements   int           `json:"maximal_placements"`
	WithoutDoubleMemory MixNumbers    `json:"without_double_memory_1g"`
}

// MixNumbers are how many mixes there are.
type MixNumbers struct {
	LegalMixes        int `json:"legal_mixes"`
	MaximalMixes      int `json:"maximal_mixes"`
	MaximalPlacements int `json:"maximal_placements"`
}

// ProfileInfo describes a profile.
type ProfileInfo struct {
	Profile  string `json:"profile"`
	ID       int    `json:"id"`
	Compute  int    `json:"compute_slices"`
	Memory   int    `json:"memory_slices"`
	MemMiB   int64  `json:"usable_mib"`
	Reported bool   `json:"usable_reported"` // as a driver reported it; else nine tenths of the slices' share
	Most     int    `json:"max_instances"`
	Starts   []int  `json:"starts"`
	Driver   []int  `json:"driver_starts"` // in the order of the driver; null where the guide does not say
}

// RunList answers which profiles and mixes a GPU has.
func RunList(q *ListRequest) (*List, error) {
	g, err := Find(q.GPU)
	if err != nil {
		return nil, err
	}
	r := &List{Schema: "capcli/mig_list/v1", GPU: g.Name, ComputeSlices: g.Compute, MemorySlices: g.Memory, MemGiB: g.MemMiB >> 10}
	var plain, single []int
	for p := range g.Profiles {
		k := &g.Profiles[p]
		r.Profiles = append(r.Profiles, ProfileInfo{k.Name, k.ID, k.Compute, k.Memory, k.MemMiB, k.Reported, k.Most, k.Starts, k.Driver})
		if k.Media {
			continue
		}
		if plain = append(plain, p); k.Compute > 1 || k.Memory == 1 {
			single = append(single, p)
		}
	}
	all := g.legal(plain)
	for _, c := range maximal(all) {
		var count [maxProfiles]uint8
		for p, n := range c {
			count[p] = uint8(n)
		}
		r.MaximalMixes = append(r.MaximalMixes, g.parts(count))
	}
	r.LegalMixes, r.MaximalPlacements = len(all), g.placements(plain)
	rest := g.legal(single)
	r.WithoutDoubleMemory = MixNumbers{len(rest), len(maximal(rest)), g.placements(single)}
	return r, nil
}

// Lead says the answer in a sentence or two.
func (r *Fit) Lead() string {
	what := countNames(r.Profiles)
	if !r.Placeable {
		return fmt.Sprintf("%s do not fit on one %s (%s): %s.", what, r.GPU, r.Reason, r.Why)
	}
	text := fmt.Sprintf("%s fit on one %s.", what, r.GPU)
	if r.OrdersFail > 0 {
		text += fmt.Sprintf(" Instances do not move once made: with the lowest start first, %d of %d orders work.", r.OrdersOK, r.OrdersOK+r.OrdersFail)
	}
	return text
}

// countNames spells names with how many times each is there: "2 × 1g.10gb, 3g.40gb".
func countNames(names []string) string {
	var order []string
	count := map[string]int{}
	for _, n := range names {
		if count[n]++; count[n] == 1 {
			order = append(order, n)
		}
	}
	for i, n := range order {
		if count[n] > 1 {
			order[i] = fmt.Sprintf("%d × %s", count[n], n)
		}
	}
	return strings.Join(order, ", ")
}

// OrderHint says in which order all instances of a mix can be made.
func (g *GPU) OrderHint(mix []int, driver bool) string {
	order := g.workingOrder(mix, driver)
	if order == nil {
		return "no order of these profiles works"
	}
	return "this order works: " + strings.Join(g.spellOut(order), ", ")
}

// OrderRow is a rule for starts with what becomes of a mix under it.
type OrderRow struct {
	Rule   string
	Works  string // "yes", or which instance fails
	Starts string // PROFILE@START of each that is made
	Try    string // an order that works
}

// Orders returns the rules of starts that are known for the GPU.
func (r *Fit) Orders() []OrderRow {
	rows := []OrderRow{r.orderRow("lowest start first", &r.Lowest)}
	if r.Driver != nil {
		rows = append(rows, r.orderRow("as the driver (A100)", r.Driver))
	}
	return rows
}

func (r *Fit) orderRow(rule string, l *Line) OrderRow {
	row := OrderRow{Rule: rule, Works: "yes"}
	if l.FailsAt != nil {
		row.Works = fmt.Sprintf("no: number %d, %s, has no start left", *l.FailsAt+1, r.Profiles[*l.FailsAt])
		if row.Try = strings.Join(l.Order, " "); l.Order == nil {
			row.Try = "none"
		}
	}
	made := make([]string, len(l.Starts))
	for i, at := range l.Starts {
		made[i] = fmt.Sprintf("%s@%d", r.Profiles[i], at)
	}
	row.Starts = strings.Join(made, " ")
	return row
}

// Lead says the answer in a sentence or two.
func (r *Fleet) Lead() string {
	few := fmt.Sprintf("%d instances need %d × %s", r.Instances, r.FewestGPUs, r.GPU)
	if !r.Proved {
		few = fmt.Sprintf("%d instances fit on %d × %s", r.Instances, r.FewestGPUs, r.GPU)
	}
	return fmt.Sprintf("%s, of whose %d compute slices %d stay free, %d of them stranded: no profile fits there. On whole GPUs they would take %d.",
		few, r.ComputeSlices+r.FreeCompute, r.FreeCompute, r.Stranded, r.WholeGPUs)
}

// Spell says the instances of a GPU: "4 × 1g.10gb, 3g.40gb".
func (s *Same) Spell() string { return spellParts(s.Instances) }

func spellParts(parts []Part) string {
	var all []string
	for _, p := range parts {
		for range p.Count {
			all = append(all, p.Profile)
		}
	}
	return countNames(all)
}

// Lead says the answer in a sentence.
func (r *List) Lead() string {
	return fmt.Sprintf("%s has %d compute slices, %d memory slices and %d GB; %d mixes of its profiles without media engines fit on one GPU, %d of them full.",
		r.GPU, r.ComputeSlices, r.MemorySlices, r.MemGiB, r.LegalMixes, len(r.MaximalMixes))
}

// FullMixes returns the mixes to which no instance can be added, in words.
func (r *List) FullMixes() []string { return capcli.Map(r.MaximalMixes, spellParts) }

// Spelled is a list of numbers in words: "0 2 4".
func Spelled(numbers []int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }

// Complete returns the profiles of a GPU with what each takes, for completion; of no GPU those of all.
func Complete(gpu string) (all []string) {
	for i := range table {
		g := &table[i]
		if gpu != "" && !strings.EqualFold(gpu, g.Name) {
			continue
		}
		for k := range g.Profiles {
			p := &g.Profiles[k]
			all = append(all, fmt.Sprintf("%s\t%s: %d compute, %d memory slices", p.Name, g.Name, p.Compute, p.Memory))
		}
	}
	return all
}
