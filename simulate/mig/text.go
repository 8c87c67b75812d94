package mig

import (
	"fmt"
	"strings"
)

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
func (r *List) FullMixes() []string {
	all := make([]string, len(r.MaximalMixes))
	for i, m := range r.MaximalMixes {
		all[i] = spellParts(m)
	}
	return all
}

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
