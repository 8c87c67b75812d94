package width

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"capcli"
)

// Model is a GPU model, and how long the job runs on each number of its GPUs.
type Model struct {
	Name   string
	Price  *big.Rat // dollars per GPU-hour, 0 or more
	GPUs   int      // most GPUs that there are; 0 is any number
	Points []Point  // in the order of the input, which settles ties between equal options
}

// Option is one way to run the job.
type Option struct {
	Model  string         `json:"model"`
	GPUs   int            `json:"gpus"`
	Run    capcli.Seconds `json:"run_s"`
	Cost   capcli.USD     `json:"cost_usd"` // rounded to the millionth, halves away from zero
	InTime bool           `json:"in_time"`  // it meets the deadline
	// DominatedBy is the number of an option that is as fast and as cheap, and better in one of the two;
	// nil where there is none.
	DominatedBy *int `json:"dominated_by,omitempty"`

	cost  *big.Rat // exact
	model int      // number of the model
}

// ExactCost returns the cost in dollars without rounding.
func (o *Option) ExactCost() *big.Rat { return new(big.Rat).Set(o.cost) }

// Options returns all options of the models, in order of model and then of Points. Points with more GPUs than
// their model has are left out. It fails where a point or a price cannot be.
func Options(models []Model, deadline capcli.Seconds) ([]Option, error) {
	var out []Option
	for i := range models {
		m := &models[i]
		if m.Price == nil || m.Price.Sign() < 0 {
			return nil, fmt.Errorf("%s: wants a price of 0 or more", m.Name)
		}
		for _, p := range m.Points {
			if p.GPUs < 1 || p.Run < 1 || p.Run > capcli.MaxSeconds {
				return nil, fmt.Errorf("%s: wants 1 GPU or more for 1 s or more, found %d GPUs for %d s", m.Name, p.GPUs, p.Run)
			}
			if m.GPUs > 0 && p.GPUs > m.GPUs {
				continue
			}
			o := Option{Model: m.Name, GPUs: p.GPUs, Run: p.Run, InTime: deadline <= 0 || p.Run <= deadline, model: i}
			o.cost = new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(p.GPUs)), big.NewInt(int64(p.Run))), big.NewInt(3600))
			o.cost.Mul(o.cost, m.Price)
			var ok bool
			if o.Cost, ok = millionths(o.cost); !ok {
				return nil, fmt.Errorf("%s: %d GPUs for %d s: %w", m.Name, p.GPUs, p.Run, capcli.ErrOverflow)
			}
			out = append(out, o)
		}
	}
	markDominated(out)
	return out, nil
}

// millionths rounds dollars to millionths, halves away from zero; false where they are too many.
func millionths(dollars *big.Rat) (capcli.USD, bool) {
	twice := new(big.Int).Mul(dollars.Num(), big.NewInt(2*int64(capcli.Dollar)))
	twice.Add(twice, dollars.Denom())
	twice.Quo(twice, new(big.Int).Mul(dollars.Denom(), big.NewInt(2)))
	return capcli.USD(twice.Int64()), twice.IsInt64()
}

// CheapestInTime returns the number of the cheapest option that meets the deadline; -1 where none does. Ties
// go to the shorter run time, then to fewer GPUs, then to the model that comes first.
func CheapestInTime(options []Option) int {
	return pickLeast(options, func(o *Option) bool { return o.InTime }, compareByCost)
}

// FastestInBudget returns the number of the fastest option that costs no more than the budget in dollars; -1
// where there is none. Ties go to the cheaper one, then to fewer GPUs, then to the model that comes first.
// A budget of nil is without limit.
func FastestInBudget(options []Option, budget *big.Rat) int {
	return pickLeast(options, func(o *Option) bool { return budget == nil || o.cost.Cmp(budget) <= 0 }, compareByTime)
}

// pickLeast returns the number of the least of the options that pass; -1 where none does.
func pickLeast(options []Option, pass func(*Option) bool, compare func(a, b *Option) int) int {
	best := -1
	for i := range options {
		if o := &options[i]; pass(o) && (best < 0 || compare(o, &options[best]) < 0) {
			best = i
		}
	}
	return best
}

func compareByCost(a, b *Option) int {
	return cmp.Or(a.cost.Cmp(b.cost), cmp.Compare(a.Run, b.Run), cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.model, b.model))
}

func compareByTime(a, b *Option) int {
	return cmp.Or(cmp.Compare(a.Run, b.Run), a.cost.Cmp(b.cost), cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.model, b.model))
}

// Frontier returns the numbers of the options that no other dominates, the fastest first. Of options equal in
// time and cost it returns the one that comes first by the ties of FastestInBudget.
func Frontier(options []Option) []int {
	order := make([]int, len(options))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareByTime(&options[a], &options[b]) })
	var out []int
	for _, i := range order {
		if len(out) == 0 || options[i].cost.Cmp(options[out[len(out)-1]].cost) < 0 {
			out = append(out, i)
		}
	}
	return out
}

// markDominated names for each option the one of the frontier that makes it pointless: the cheapest that is
// as fast, where it costs no more and one of the two is better.
func markDominated(options []Option) {
	front := Frontier(options)
	for i := range options {
		o := &options[i]
		for _, k := range slices.Backward(front) {
			f := &options[k]
			if f.Run > o.Run {
				continue
			}
			if c := f.cost.Cmp(o.cost); c < 0 || c == 0 && f.Run < o.Run {
				o.DominatedBy = &k
			}
			break
		}
	}
}

// Step is what it costs to be done sooner: from one option of the frontier to the next faster one.
type Step struct {
	From  int            `json:"from"`    // number of the slower, cheaper option
	To    int            `json:"to"`      // number of the faster one
	Saved capcli.Seconds `json:"saved_s"` // time saved
	More  capcli.USD     `json:"more_usd"`
	// PerHour is the price of each hour saved, rounded to the millionth.
	PerHour capcli.USD `json:"usd_per_hour_saved"`
}

// Steps returns the price of speed along the frontier, from the cheapest option to the fastest.
func Steps(options []Option) []Step {
	front := Frontier(options)
	var out []Step
	for i := len(front) - 1; i > 0; i-- {
		slow, fast := &options[front[i]], &options[front[i-1]]
		s := Step{From: front[i], To: front[i-1], Saved: slow.Run - fast.Run}
		more := new(big.Rat).Sub(fast.cost, slow.cost)
		s.More, _ = millionths(more) // no more than the cost of fast
		s.PerHour, _ = millionths(more.Mul(more, big.NewRat(3600, int64(s.Saved))))
		out = append(out, s)
	}
	return out
}
