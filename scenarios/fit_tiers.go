package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
)

// FitTiers writes a scenario for a plan of three tiers: reserved GPUs, GPUs on demand and spot GPUs. Its jobs have the
// class and the partition of their kind of work, as kinds.Survey.Rewrite gives them. The reserved pool is left out where
// o.Commit is "" or the key of a term that is no place, and the spot pool where rules state no price and the machine
// has none. own is the user's prices; nil is none. It fails with *capcli.RequestError where the model has no such price.
func (s *LogSurvey) FitTiers(o FitOptions, own *prices.List, rules *kinds.Rules) (*Fitted, error) {
	if len(s.groups) == 0 {
		return nil, noJobs(s)
	}
	offer, ok := prices.OfferFor(own, o.GPUModel)
	var term *prices.Quote
	if o.Commit != "" {
		if prices.IsKey(o.Commit) {
			offer, ok = prices.OfferWith(own, o.GPUModel, o.Commit)
		}
		if ok {
			term, ok = offer.ForTerm(o.Commit)
		}
	}
	if !ok {
		return nil, NoPriceError(own, o.GPUModel)
	}
	w := &fitWriter{survey: s, o: o, out: &Fitted{}}
	gpus, why := s.Size()
	w.out.GPUs = gpus
	w.tierHead()
	w.line("name: %s", yamlText(stem(o.Log)+"-tiers"))
	w.jobs()
	if o.From == "" {
		w.line("jobs:")
	}
	w.line("  any_model: true")
	w.line("")
	w.line("capacity:")
	for i := range rules.Held {
		w.heldPool(&rules.Held[i], i)
	}
	if term != nil && !term.Properties().Floats() {
		w.out.Pools++
		w.line("  - name: base")
		w.line("    kind: reserved")
		w.line("    gpu_model: %s", yamlText(o.GPUModel))
		w.line("    gpus: %d                     # %s", gpus, why)
		w.line("    term: %s", yamlText(term.Term))
		w.line("    price: %s", term.Key())
		w.line("    fenced: true")
		w.line("    partition: %-15s # null opens it to the jobs that may run on spot GPUs", kinds.BaseLane)
	}
	w.line("  - name: burst")
	w.line("    kind: on_demand")
	w.line("    gpu_model: %s", yamlText(o.GPUModel))
	w.line("    price: %s", offer.OnDemand.Key())
	w.out.Pools++
	if price := SpotPrice(own, offer, rules); price != "" {
		w.spot(offer, rules, price, gpus)
	}
	w.tierRules(rules)
	w.out.Text = []byte(w.b.String())
	if _, err := ParseWith(own, "tiers.yaml", w.out.Text); err != nil {
		return nil, fmt.Errorf("the log's names make no scenario: %w", err)
	}
	return w.out, nil
}

// tierHead writes what the scenario is.
func (w *fitWriter) tierHead() {
	s := w.survey
	w.line("# Made for %s: %s jobs that want GPUs, submitted %s.", strict.Printable(w.o.Log), fmt.Sprint(s.jobs-s.cpuOnly), days(s.first, s.last))
	w.line("# Three tiers: reserved GPUs, GPUs on demand, and spot GPUs for the jobs sent to the partition %s.", kinds.SpotLane)
	w.line("")
	w.line("capcli: %s", version)
}

// tierRules writes which capacity is tried first, who waits, and how jobs save their work.
func (w *fitWriter) tierRules(rules *kinds.Rules) {
	w.line("")
	w.line("policy: easy")
	w.line("overflow: {order: [spot, on_demand], patience: [{class: %s, wait: 0s}, {wait: 0s}]}", kinds.Waits)
	c := &rules.Checkpoint
	save := fmt.Sprintf("checkpoint_every: %ds, restart: %ds", c.Every, c.Restart)
	w.line("preemption:")
	w.line("  mode: checkpoint")
	w.line("  classes: # run times have the pauses for checkpoints in them")
	w.line("    - {class: %s, %s}", kinds.Saved, save)
	w.line("    - {class: %s, %s} # those with checkpoints alone are sent to spot", kinds.Waits, save)
	w.line("    - {class: %s, restart: %ds}", kinds.Spot, c.Restart)
	if slices.ContainsFunc(rules.Held, func(h kinds.Holding) bool { return h.Until != "" }) {
		w.line("    # when what is held ends, work goes on elsewhere from where it is")
		for _, k := range []kinds.Kind{kinds.Always, kinds.Unknown} {
			w.line("    - {class: %s, checkpoint_every: 1s}", k)
		}
	}
}

// heldPool writes a pool of GPUs that are committed already. It stands before the others, so it serves first.
func (w *fitWriter) heldPool(h *kinds.Holding, i int) {
	w.out.Pools++
	w.line("  - name: %s%d", HeldPool, i+1)
	w.line("    kind: reserved")
	w.line("    gpu_model: %s", yamlText(w.o.GPUModel))
	w.line("    gpus: %d", h.GPUs)
	w.line("    free: true                   # it is paid for whatever is decided")
	w.line("    fenced: true")
	if h.From != "" {
		w.line("    from: %s", h.From)
	}
	if h.Until != "" {
		w.line("    until: %s", h.Until)
	}
}

// HeldPool begins the names of the pools of what is held, in a scenario of tiers.
const HeldPool = "held"

func (w *fitWriter) spot(offer *prices.Offer, rules *kinds.Rules, price string, gpus int64) {
	t, each := &rules.Spot, int64(cmp.Or(rules.MachineGPUs, max(1, offer.OnDemand.GPUs)))
	w.out.Pools++
	w.line("  - name: spot")
	w.line("    kind: spot")
	w.line("    partition: %s", kinds.SpotLane)
	w.line("    gpu_model: %s", yamlText(w.o.GPUModel))
	w.line("    nodes: %d", max(1, (gpus+each-1)/each))
	w.line("    gpus_per_node: %d", each)
	w.line("    price: %s", price)
	w.line("    hazard: {mean_up: %ds, mean_down: %ds, notice: %ds} # assumed: a price list has no losses", t.MeanUpOr(), t.MeanDown, t.Notice)
}

// SpotPrice returns the price of spot GPUs as a scenario has it: that of the rules, else the key of the machine's spot
// price; "" where there is none.
func SpotPrice(own *prices.List, offer *prices.Offer, rules *kinds.Rules) string {
	if rules.Spot.Price != "" {
		return rules.Spot.Price
	}
	machine, ok := strings.CutSuffix(offer.OnDemand.Key(), "/on_demand")
	for _, q := range own.Override(prices.Catalogue()).Quotes() {
		if ok && q.Key() == machine+"/spot" {
			return q.Key()
		}
	}
	return ""
}
