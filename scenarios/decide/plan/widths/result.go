package widths

import (
	"fmt"
	"math/big"
	"strings"

	"capcli"
	"capcli/simulate/width"
)

// Result is the answer about one job: its options, the best under each limit, and what speed costs.
type Result struct {
	Schema   string          `json:"schema"`
	Currency string          `json:"currency"`
	Says     string          `json:"says"`
	Models   []Price         `json:"models"`
	Deadline *capcli.Seconds `json:"deadline_s"`
	Budget   *capcli.USD     `json:"budget_usd"`
	Options  []width.Option  `json:"options"`
	// Cheapest is the cheapest option that meets the deadline, Fastest the fastest within the budget; each is
	// null where there is none. Ties go to the shorter run time or the lower cost, then to fewer GPUs.
	Cheapest *width.Option `json:"cheapest_in_time"`
	Fastest  *width.Option `json:"fastest_in_budget"`
	Nearest  *Nearest      `json:"nearest,omitempty"` // where no option keeps the limits
	Frontier []int         `json:"frontier"`          // numbers of the options that no other dominates, fastest first
	Earlier  []width.Step  `json:"earlier"`           // what being done earlier costs
	Rivals   []Rival       `json:"rivals"`

	Notes []string `json:"-"`
}

// Price is the price of a GPU-hour of a model.
type Price struct {
	Model string      `json:"model"`
	Rate  capcli.Rate `json:"usd_per_gpu_hour"`
}

// Nearest is how far the options are from limits that none keeps.
type Nearest struct {
	Option width.Option   `json:"option"`
	Late   capcli.Seconds `json:"late_s,omitempty"`   // past the deadline
	Over   capcli.USD     `json:"over_usd,omitempty"` // above the budget
}

// Rival is the best option of another model than that of the plan, and the price below which it would cost less
// than the plan.
type Rival struct {
	Model     string         `json:"model"`
	GPUs      int            `json:"gpus"`
	Run       capcli.Seconds `json:"run_s"`
	Cost      capcli.USD     `json:"cost_usd"`
	Price     capcli.Rate    `json:"usd_per_gpu_hour"`
	BreakEven capcli.Rate    `json:"break_even_usd_per_gpu_hour"` // rounded down to the millionth
}

func (q *question) answer(options []width.Option) *Result {
	r := &Result{
		Schema: "capcli/plan_width/v1", Currency: "USD", Options: options, Frontier: width.Frontier(options), Earlier: width.Steps(options), Rivals: []Rival{},
		Notes: append(q.notes, "run times as stated: waits for GPUs, interruptions and checkpoints are not in them; capcli simulate plays those"),
	}
	if r.Earlier == nil {
		r.Earlier = []width.Step{}
	}
	for i := range q.models {
		r.Models = append(r.Models, Price{q.models[i].Name, q.rates[i]})
	}
	if q.deadline > 0 {
		r.Deadline = &q.deadline
	}
	if q.budget != nil {
		usd := new(big.Rat).Mul(q.budget, big.NewRat(int64(capcli.Dollar), 1)).Num().Int64()
		r.Budget = (*capcli.USD)(&usd)
	}
	if i := width.CheapestInTime(options); i >= 0 {
		r.Cheapest = &options[i]
	}
	if i := width.FastestInBudget(options, q.budget); i >= 0 {
		r.Fastest = &options[i]
	}
	r.findNearest(q)
	if plan := r.Plan(); plan != nil {
		r.Rivals = q.rivals(options, plan)
	}
	r.Says = r.sentence()
	return r
}

// Plan returns the option to take: the cheapest in time, or where only a budget is named the fastest within it.
// It is nil where no option keeps the limits.
func (r *Result) Plan() *width.Option {
	switch {
	case r.Nearest != nil:
		return nil
	case r.Deadline == nil && r.Budget != nil:
		return r.Fastest
	}
	return r.Cheapest
}

// findNearest sets Nearest where no option keeps both limits. Nearest is the fastest option where all are late,
// else the cheapest of those in time.
func (r *Result) findNearest(q *question) {
	switch {
	case r.Cheapest == nil:
		o := &r.Options[r.Frontier[0]]
		r.Nearest = &Nearest{Option: *o, Late: o.Run - q.deadline}
		if q.budget != nil && o.ExactCost().Cmp(q.budget) > 0 {
			r.Nearest.Over = o.Cost - *r.Budget
		}
	case q.budget != nil && r.Cheapest.ExactCost().Cmp(q.budget) > 0:
		r.Nearest = &Nearest{Option: *r.Cheapest, Over: max(1, r.Cheapest.Cost-*r.Budget)}
	}
}

// rivals returns for each other model with an option in time its break-even price against the plan.
func (q *question) rivals(options []width.Option, plan *width.Option) []Rival {
	out := []Rival{}
	for m := range q.models {
		if q.models[m].Name == plan.Model {
			continue
		}
		best := -1
		for i := range options {
			o := &options[i]
			if o.Model == q.models[m].Name && o.InTime && (best < 0 || o.ExactCost().Cmp(options[best].ExactCost()) < 0) {
				best = i
			}
		}
		if best < 0 {
			continue
		}
		o := &options[best]
		out = append(out, Rival{o.Model, o.GPUs, o.Run, o.Cost, q.rates[m], breakEven(plan.ExactCost(), o)})
	}
	return out
}

// breakEven returns the price at which o costs as much as cost, rounded down to the millionth.
func breakEven(cost *big.Rat, o *width.Option) capcli.Rate {
	cost.Mul(cost, big.NewRat(3600*int64(capcli.Dollar), 1))
	cost.Quo(cost, new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(o.GPUs)), big.NewInt(int64(o.Run))), big.NewInt(1)))
	whole := new(big.Int).Quo(cost.Num(), cost.Denom())
	if !whole.IsInt64() {
		return capcli.Rate(1<<63 - 1)
	}
	return capcli.Rate(whole.Int64())
}

// NameOption returns an option in words: "64 H100".
func NameOption(o *width.Option) string { return fmt.Sprintf("%d %s", o.GPUs, o.Model) }

// sentence is the answer in words, the decision first.
func (r *Result) sentence() string {
	plan := r.Plan()
	if plan == nil {
		return strings.ToUpper(r.nearestText()[:1]) + r.nearestText()[1:] + "."
	}
	text := fmt.Sprintf("Run on %s: %s for %s", NameOption(plan), plan.Run, plan.Cost)
	switch n := len(r.Options); {
	case n == 1:
		text += ", the only option"
	case r.Deadline != nil:
		text += fmt.Sprintf(", the cheapest of %d options that ends within %s", n, *r.Deadline)
	case r.Budget != nil:
		text += fmt.Sprintf(", the fastest of %d options within %s", n, *r.Budget)
	default:
		text += fmt.Sprintf(", the cheapest of %d options", n)
	}
	return text + r.againstText(plan) + "." + r.soonerText(plan)
}

// againstText compares the plan with the best of each other model.
func (r *Result) againstText(plan *width.Option) string {
	var parts []string
	for _, v := range r.Rivals {
		text := fmt.Sprintf("%d %s: ", v.GPUs, v.Model)
		switch more := v.Cost - plan.Cost; {
		case more > 0:
			text += more.String() + " more"
		case more < 0:
			text += (-more).String() + " less"
		default:
			text += "the same cost"
		}
		switch longer := v.Run - plan.Run; {
		case longer > 0:
			text += fmt.Sprintf(", %s later", longer)
		case longer < 0:
			text += fmt.Sprintf(", %s sooner", -longer)
		}
		if v.BreakEven < v.Price {
			text += fmt.Sprintf(", cheaper below %s a GPU-hour (now %s)", v.BreakEven, v.Price)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(capcli.Abridge(parts, 3), "; ")
}

// soonerText says what the next faster option costs, and where the plan costs more than an option that is late.
func (r *Result) soonerText(plan *width.Option) string {
	text := ""
	for _, s := range r.Earlier {
		if from := &r.Options[s.From]; from.Run == plan.Run && from.Cost == plan.Cost {
			text = fmt.Sprintf(" %s earlier costs %s more (%s), %s an hour.", s.Saved, s.More, NameOption(&r.Options[s.To]), s.PerHour)
		}
	}
	if cheap := &r.Options[r.Frontier[len(r.Frontier)-1]]; r.Deadline != nil && !cheap.InTime && cheap.Cost < plan.Cost {
		text += fmt.Sprintf(" Without the deadline %s would cost %s less, and take %s.", NameOption(cheap), plan.Cost-cheap.Cost, cheap.Run)
	}
	return text
}

// nearestText says that no option keeps the limits, and which comes nearest.
func (r *Result) nearestText() string {
	o := &r.Nearest.Option
	switch {
	case r.Nearest.Late > 0 && r.Nearest.Over > 0:
		return fmt.Sprintf("no option ends within %s; the fastest, %s, takes %s: %s too long, and costs %s, %s over the budget",
			*r.Deadline, NameOption(o), o.Run, r.Nearest.Late, o.Cost, r.Nearest.Over)
	case r.Nearest.Late > 0:
		return fmt.Sprintf("no option ends within %s; the fastest, %s, takes %s: %s too long, for %s", *r.Deadline, NameOption(o), o.Run, r.Nearest.Late, o.Cost)
	case r.Deadline != nil:
		text := fmt.Sprintf("no option ends within %s for %s; the cheapest in time, %s, costs %s: %s over the budget", *r.Deadline, *r.Budget, NameOption(o), o.Cost, r.Nearest.Over)
		if r.Fastest != nil {
			text += fmt.Sprintf("; the fastest within it, %s, takes %s: %s too long", NameOption(r.Fastest), r.Fastest.Run, r.Fastest.Run-*r.Deadline)
		}
		return text
	}
	return fmt.Sprintf("no option costs %s or less; the cheapest, %s, costs %s: %s over the budget", *r.Budget, NameOption(o), o.Cost, r.Nearest.Over)
}

// NoPlan returns a *capcli.ResultError where no option keeps the limits; else nil.
func (r *Result) NoPlan() error {
	if r.Nearest == nil {
		return nil
	}
	return &capcli.ResultError{Kind: capcli.NoPlan, Text: r.nearestText(), Hint: "a later deadline, a higher budget, a wider option or a faster model"}
}

// InsteadOf returns the option that makes option i pointless, in words; "" where there is none.
func (r *Result) InsteadOf(i int) string {
	if k := r.Options[i].DominatedBy; k != nil {
		return NameOption(&r.Options[*k])
	}
	return ""
}

// Marks says of which limit option i is the best: "cheapest", "fastest" or both; "" where of none.
func (r *Result) Marks(i int) string {
	var out []string
	if r.Cheapest == &r.Options[i] {
		out = append(out, "cheapest")
	}
	if r.Fastest == &r.Options[i] {
		out = append(out, "fastest")
	}
	return strings.Join(out, ", ")
}

// CostByTime returns the least cost, in dollars, of being done within each of n run times, at equal steps from
// that of the fastest option of the frontier to that of the cheapest, and these two run times.
func (r *Result) CostByTime(n int) (costs []float64, from, to capcli.Seconds) {
	from, to = r.Options[r.Frontier[0]].Run, r.Options[r.Frontier[len(r.Frontier)-1]].Run
	k := 0
	for i := range n {
		at := from + (to-from)*capcli.Seconds(i)/capcli.Seconds(max(1, n-1))
		for k+1 < len(r.Frontier) && r.Options[r.Frontier[k+1]].Run <= at {
			k++
		}
		costs = append(costs, r.Options[r.Frontier[k]].Cost.Float())
	}
	return costs, from, to
}
