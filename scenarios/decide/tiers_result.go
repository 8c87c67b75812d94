package decide

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
)

// Tiers is the plan of three tiers: a committed base, GPUs on demand, and spot GPUs for the work that may lose them.
// Amounts are means over the futures that were played, over the horizon.
type Tiers struct {
	// Sentences are the answer; each is made of the other fields alone.
	Sentences []string       `json:"sentences"`
	Holds     bool           `json:"holds"` // the limits hold in the share of the futures that was asked for
	GPU       string         `json:"gpu_model"`
	Start     capcli.Time    `json:"start"`
	Length    capcli.Seconds `json:"length_s"`
	Futures   int            `json:"played_futures"`
	Kinds     *kinds.Report  `json:"kinds"`               // of the log
	Scale     float64        `json:"futures_over_log"`    // mean demand of the futures over that of the jobs of the log that are needed
	Tiers     []Tier         `json:"tiers"`               // base, bill, flexible, spot; those that the plan has
	ByKind    []KindTiers    `json:"by_kind"`             // what each kind of work does where
	Totals    []TierTotal    `json:"totals"`              // the plan first, then what else costs
	Changes   []string       `json:"changes"`             // of the scenario tiers.yaml that make the plan, as PATH=VALUE
	Patience  string         `json:"patience"`            // how long jobs that may wait wait for the base before they go on demand
	BaseOpen  bool           `json:"base_takes_spot"`     // the base takes jobs that may run on spot where it has room
	Machines  int            `json:"spot_machines_most"`  // spot machines that are asked for at most
	Tried     []int          `json:"spot_machines_tried"` // 0 is without spot
	MachineOf int            `json:"machine_gpus"`        // GPUs of a machine
	Bound     *mix.Bound     `json:"bound"`               // lower bound on what such tiers cost
	Untold    []UntoldCase   `json:"untold"`              // what the tiers would be if jobs that cannot be told were known; none where few are
	Assumed   []string       `json:"assumptions"`
	Losses    []LossCase     `json:"losses"`              // what other losses of spot GPUs would change; none where spot was not tried
	Cost      capcli.USD     `json:"cost_usd"`            // of the plan
	Useful    float64        `json:"useful_gpu_hours"`    // GPU-hours held less those done again
	PerUseful capcli.Rate    `json:"usd_per_useful_hour"` // cost of a useful GPU-hour
	Unserved  float64        `json:"unserved_gpu_hours"`
}

// Tier is one way in which the plan gets GPUs.
type Tier struct {
	Tier      string      `json:"tier"`      // held (what is committed already, which costs nothing here), base (reserved GPUs that jobs are put on), bill (commitments on what is on demand), flexible (on demand), spot
	Mean      float64     `json:"mean_gpus"` // in use
	First     float64     `json:"first_gpus"`
	Term      string      `json:"term"`
	Seller    string      `json:"seller"`
	Rate      capcli.Rate `json:"usd_per_gpu_hour"`
	Held      float64     `json:"held_gpu_hours"`
	Useful    float64     `json:"useful_gpu_hours"`
	Share     float64     `json:"share"` // of the useful GPU-hours
	Cost      capcli.USD  `json:"cost_usd"`
	PerUseful capcli.Rate `json:"usd_per_useful_hour"`
	Stranded  capcli.USD  `json:"stranded_usd"` // paid for GPUs that nobody used
	Restarts  float64     `json:"restarts"`     // times that a job loses its GPUs
	Redone    float64     `json:"redone_gpu_hours"`
	WaitP95   float64     `json:"wait_p95_s"` // of the jobs that wait for the tier, the mean over the futures
}

// KindTiers is what the jobs of one class do.
type KindTiers struct {
	Class     string             `json:"class"`
	Jobs      float64            `json:"jobs"`
	Held      map[string]float64 `json:"held_gpu_hours"` // by pool: base, burst, spot
	Restarts  float64            `json:"restarts"`
	Redone    float64            `json:"redone_gpu_hours"`
	WaitP95   float64            `json:"wait_p95_s"`       // mean over the futures
	WaitWorst capcli.Seconds     `json:"wait_p95_worst_s"` // of any future
	WaitMax   capcli.Seconds     `json:"wait_max_s"`       // of any job
}

// TierTotal is what the same work costs in another way.
type TierTotal struct {
	Name       string      `json:"plan"`
	GPUs       float64     `json:"committed_gpus"`
	Cost       capcli.USD  `json:"cost_usd"`
	Difference capcli.USD  `json:"difference_usd"` // from the plan
	PerUseful  capcli.Rate `json:"usd_per_useful_hour"`
}

// Names of tiers and of totals.
const (
	tierHeld     = "held"
	tierBase     = "base"
	tierBill     = "bill"
	tierFlexible = "flexible"
	tierSpot     = "spot"
	theTiers     = "the tiers"
	noSpot       = "the same without spot"
	atPeak       = "all reserved at the peak"
)

// perHour returns the cost of an hour; 0 where there are none.
func perHour(cost capcli.USD, hours float64) capcli.Rate {
	if hours <= 0 {
		return 0
	}
	return capcli.Rate(math.Round(float64(cost) / hours))
}

// addRows fills in the tiers of a mix, in the order of the answer.
func (t *Tiers) addRows(s *tierSearch, best tierPoint, m *mix.Mix) {
	n := len(m.Entry.Outcomes)
	hours := func(pool string) float64 {
		sum := 0.0
		for i := range m.Entry.Outcomes {
			for _, p := range m.Entry.Outcomes[i].Pools {
				if p.Name == pool {
					sum += p.Used.Hours() / float64(n)
				}
			}
		}
		return sum
	}
	cost := func(pool string) capcli.USD {
		return capcli.MeanUSD(n, true, func(i int) capcli.USD {
			for _, p := range m.Entry.Outcomes[i].Pools {
				if p.Name == pool {
					return p.Cost
				}
			}
			return 0
		})
	}
	mean := func(f func(o *mix.Outcome) capcli.USD) capcli.USD {
		return capcli.MeanUSD(n, true, func(i int) capcli.USD { return f(&m.Entry.Outcomes[i]) })
	}
	t.Cost = plan.Risk{}.USD(costs(m), true)
	for i := range m.Entry.Outcomes {
		o := &m.Entry.Outcomes[i]
		t.Unserved += (o.Possible - o.Served).Hours() / float64(n)
	}
	if len(s.rules.Held) > 0 {
		t.Tiers = append(t.Tiers, s.heldTier(hours))
	}
	if best.gpus > 0 {
		t.Tiers = append(t.Tiers, Tier{
			Tier: tierBase, First: float64(best.gpus), Term: s.place.Term, Seller: s.place.Provider, Rate: s.place.PerGPU(), Held: hours("base"), Cost: cost("base"),
			Stranded: mean(func(o *mix.Outcome) capcli.USD { return o.StrandedIdle + o.StrandedBlocked + o.StrandedDown }),
		})
	}
	flexible := Tier{Tier: tierFlexible, Term: "on_demand", Seller: s.offer.OnDemand.Provider, Rate: s.offer.OnDemand.PerGPU(), Held: hours("burst"), Cost: cost("burst")}
	if b := m.Commitments; b != nil && len(b.Bought) > 0 {
		bill := billTier(b, s.out.Start)
		bill.Seller = s.offer.OnDemand.Provider
		if b.Wanted > 0 {
			bill.Held = flexible.Held * b.Covered / b.Wanted
		}
		flexible.Held -= bill.Held
		flexible.Cost = t.Cost - bill.Cost - cost("base") - cost("spot")
		t.Tiers = append(t.Tiers, bill)
	}
	t.Tiers = append(t.Tiers, flexible)
	if best.nodes > 0 {
		spot := Tier{Tier: tierSpot, First: float64(best.nodes * s.rules.MachineGPUs), Term: "spot", Seller: s.offer.OnDemand.Provider, Held: hours("spot"), Cost: cost("spot")}
		spot.addLosses(m.Entry.Outcomes)
		t.Tiers = append(t.Tiers, spot)
	}
	t.finish()
}

// addLosses fills in what jobs lose on spot, means over the futures, and the rate that was paid.
func (x *Tier) addLosses(list []mix.Outcome) {
	n := float64(len(list))
	for i := range list {
		x.Restarts += float64(list[i].Preemptions) / n
		x.Redone += list[i].Redone.Hours() / n
	}
	x.Rate = perHour(x.Cost, x.Held)
}

// heldTier is the row of what is held. hours returns the GPU-hours that a pool was used.
func (s *tierSearch) heldTier(hours func(pool string) float64) Tier {
	out := Tier{Tier: tierHeld, Term: tierHeld}
	for i := range s.rules.Held {
		h := &s.rules.Held[i]
		if out.Held += hours(scenarios.HeldPool + strconv.Itoa(i+1)); h.From == "" {
			out.First += float64(h.GPUs)
		}
	}
	return out
}

// finish fills in what follows from the other figures of the tiers.
func (t *Tiers) finish() {
	for i := range t.Tiers {
		x := &t.Tiers[i]
		x.Useful, x.Mean = x.Held-x.Redone, x.Held/t.Length.Hours()
		x.PerUseful = perHour(x.Cost, x.Useful)
		t.Useful += x.Useful
	}
	for i := range t.Tiers {
		t.Tiers[i].Share = t.Tiers[i].Useful / max(t.Useful, 1e-9)
	}
	t.PerUseful = perHour(t.Cost, t.Useful)
}

// billTier is the row of the commitments that cover.
func billTier(b *mix.Coverage, start capcli.Time) Tier {
	out := Tier{Tier: tierBill, Cost: b.Committed}
	var terms []string
	for i := range b.Bought {
		x := &b.Bought[i]
		if x.Start == start {
			out.First += float64(x.GPUs)
		}
		if !slices.Contains(terms, x.Offer) {
			terms = append(terms, x.Offer)
		}
	}
	out.Term = strings.Join(terms, ", ")
	if all := b.Covered + b.Unused; all > 0 {
		out.Stranded = capcli.USDOf(b.Unused / all * b.Committed.Float())
		out.Rate = perHour(b.Committed, all)
	}
	return out
}

// addKinds fills in what each class of jobs does, by run.
func (t *Tiers) addKinds(runs [][]mix.ClassUse) {
	n := float64(len(runs))
	at := map[string]int{}
	for _, classes := range runs {
		for i := range classes {
			x := &classes[i]
			k, known := at[x.Class]
			if !known {
				k = len(t.ByKind)
				at[x.Class] = k
				t.ByKind = append(t.ByKind, KindTiers{Class: x.Class, Held: map[string]float64{}})
			}
			to := &t.ByKind[k]
			to.Jobs += float64(x.Jobs) / n
			for _, p := range x.Held {
				to.Held[p.Pool] += p.Held.Hours() / n
			}
			to.Restarts += float64(x.Restarts) / n
			to.Redone += x.Redone.Hours() / n
			to.WaitP95 += float64(x.WaitP95) / n
			to.WaitWorst, to.WaitMax = max(to.WaitWorst, x.WaitP95), max(to.WaitMax, x.WaitMax)
		}
	}
	slices.SortFunc(t.ByKind, func(a, b KindTiers) int { return strings.Compare(a.Class, b.Class) })
	for i := range t.Tiers {
		for k := range t.ByKind {
			if t.Tiers[i].Tier == tierBase && t.ByKind[k].Class == string(kinds.Waits) {
				t.Tiers[i].WaitP95 = t.ByKind[k].WaitP95
			}
		}
	}
}

// addTotals puts beside the tiers what the same futures cost in other ways.
func (t *Tiers) addTotals(s *tierSearch, best tierPoint) error {
	committed := func(p tierPoint) float64 {
		return float64(p.gpus) + float64(s.found[p].Commitments.BillGPUs())
	}
	t.Totals = append(t.Totals, TierTotal{Name: theTiers, GPUs: committed(best), Cost: t.Cost, PerUseful: t.PerUseful})
	add := func(name string, gpus float64, cost capcli.USD) {
		t.Totals = append(t.Totals, TierTotal{name, gpus, cost, cost - t.Cost, perHour(cost, t.Useful)})
	}
	if p := s.bestPoint(func(p tierPoint) bool { return p.nodes == 0 }); best.nodes > 0 && s.found[p] != nil {
		add(noSpot, committed(p), plan.Risk{}.USD(costs(s.found[p]), true))
	}
	bare := s.planner.WithoutBills(s.found[tierPoint{0, 0, true, "0s"}])
	if bare == nil {
		return fmt.Errorf("all on demand was not played")
	}
	onDemand := allOnDemand
	if len(s.rules.Held) > 0 {
		onDemand = heldAlone
	}
	add(onDemand, 0, plan.Risk{}.USD(costs(bare), true))
	peak, q := s.peak(), s.reservedPrice()
	each := capcli.Cost(q.PerGPU(), capcli.GPUTime(int64(t.Length))*capcli.GPUSecond)
	add(atPeak, float64(peak), each*capcli.USD(peak))
	return nil
}

// peak returns the mean over the futures that are played of their highest hour beyond what is held, in whole machines.
func (s *tierSearch) peak() int {
	sum, paths := 0.0, s.set.Futures.Paths[:s.played()]
	for _, path := range paths {
		most := 0.0
		for i, v := range path {
			at := s.set.Futures.Grid.At(i)
			for _, h := range s.bought.Held {
				if h.Start.Time <= at && at < h.End.Time {
					v -= h.GPUs
				}
			}
			most = max(most, v)
		}
		sum += most
	}
	lot := float64(s.lot())
	return int(math.Ceil(sum/float64(len(paths))/lot-1e-9) * lot)
}

// reservedPrice returns the cheapest commitment that does not bind far beyond the question; the shortest where all do.
func (c *chain) reservedPrice() *prices.Quote {
	best := &c.offer.Committed[0]
	for i := range c.offer.Committed {
		q := &c.offer.Committed[i]
		months, _ := q.Months()
		if float64(capcli.Step{Months: months}.Length()) <= beyond*float64(c.out.Length) && q.PerGPU() < best.PerGPU() {
			best = q
		}
	}
	return best
}
