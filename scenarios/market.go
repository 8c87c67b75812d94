package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
)

// marketVersion is the version of the file format, in a market's first line: capcli: market/v1.
const marketVersion = "market/v1"

var marketForm = strict.Form{Version: marketVersion, What: "a market", Template: "docs/plan.md: Several GPU models in one plan"}

// Market is what can be bought for several GPU models: on-demand prices, and offers of each
// product.
type Market struct {
	File    string
	Name    string
	Every   capcli.Step
	After   string // what becomes of a purchase that lasts beyond the end of the demand: prorated (""), tail, whole or fitting
	Overrun bool   // whole, unless After says another
	GPUs    []MarketGPU
	Offers  []MarketOffer
	Moves   []MarketMove
}

// MarketGPU is a GPU model in demand.
type MarketGPU struct {
	Model    string // the name of its series in the demand
	OnDemand Price
	Lot      int64 // GPUs are bought in multiples of this, in thousandths; 0 stands for 1 GPU
	Tail     int64 // thousandths of GPUs that are wanted after the end of the demand, where After is tail
}

// MarketOffer is one thing that can be bought: GPUs of a model, or a plan. A plan is a commitment
// to spend money, and its discount applies to all its models.
type MarketOffer struct {
	Name, Product string
	Model         int           // index in Market.GPUs; -1 for a plan
	Rates         []capcli.Rate // plan: price of a GPU-hour of each model under it; 0 is not covered
	Length        capcli.Step   // length of the term
	Rate          capcli.Rate   // price of a GPU-hour of the term; of a plan, the price of a dollar an hour, usually one dollar
	Max           int64         // most that can be bought at one time, in thousandths of GPUs or of dollars an hour; 0 is no limit
	Fixed         bool          // whether it can only start at From: a block with its dates
	From, Until   capcli.Time   // dates of a Fixed offer; else NoTime
	Exits         []Exit
	Extend        capcli.Step // length of an option to extend at ExtendRate; zero is none
	ExtendRate    capcli.Rate
	Line          int // line in the file

	gpuModel string
	rates    []billing.PlanRate
	node     *yaml.Node
}

// Exit is a way to end an offer early. It costs Share, in millionths, of what is still to be paid
// for the rest of the term.
type Exit struct {
	After capcli.Step
	Share int64
}

// ParseMarket reads a market and checks all of it. The error is *strict.Faults.
func ParseMarket(file string, b []byte) (*Market, error) {
	d := &strict.Decoder{Form: &marketForm}
	m := &Market{File: file}
	if root := d.ReadTree(b); root != nil {
		readMarket(d, root, m)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(cmp.Or(file, "market"), "fields of a market: docs/plan.md; an unknown field is answered with those of its section")
	}
	return m, nil
}

func readMarket(d *strict.Decoder, root *yaml.Node, m *Market) {
	if root.Kind != yaml.MappingNode {
		d.Fault(root, "this is no market: it begins with capcli: %s and has lists called gpus and offers", marketVersion)
		return
	}
	var moves []MarketMove
	o := d.ReadObject(root, "the top level", []strict.Field{
		{"capcli", "the form of this file: " + marketVersion, strict.Version},
		{"name", "what the market is called", strict.Name(&m.Name)},
		{"every", "purchases may start at each such interval; default: 1mo", stepOf(&m.Every)},
		{"after", "what becomes of a purchase that lasts beyond the end of the demand: prorated (its time within counts, the default), tail (demand goes on at the tail of each model), whole (all of it is paid) or fitting (it is not offered)", strict.Choice(&m.After, "rule", "prorated", "tail", "whole", "fitting")},
		{"overrun", "true: after: whole", strict.Bool(&m.Overrun)},
		{"gpus", "models that are wanted: [{gpu_model: H100, on_demand: 3.90, lot: 8}]", marketGPUs(m)},
		{"offers", "what can be bought: [{product: reserved_instance, gpu_model: H100, term: 1y, price: 2.20}]", marketOffers(m)},
		{"moves", "work that may move between models: [{from: A100, to: H100, speed: 2.0, share: 30%}]", marketMoves(&moves)},
	})
	o.RequireVersion("file")
	if len(m.GPUs) == 0 && d.FaultCount() == 0 {
		o.FaultMissing("gpus", "gpus is missing; give a list such as - {gpu_model: H100, on_demand: 3.90}")
	}
	if d.FaultCount() == 0 {
		m.match(d)
		for _, x := range moves {
			if problem := m.addMove(x); problem != "" {
				d.Fault(x.node, "%s", problem)
			}
		}
	}
}

// stepOf reads a length such as 1mo, 1w or 36h.
func stepOf(dst *capcli.Step) strict.Reader {
	return strict.Value(dst, "a length such as 1mo", "a length such as 36h, 2w, 6mo or 1y", func(s string) (capcli.Step, bool) {
		step, err := capcli.ParseStep(s)
		return step, err == nil
	})
}

func marketGPUs(m *Market) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxList, "gpus", func(_ int, n *yaml.Node) {
			var g MarketGPU
			o := d.ReadObject(n, "gpus", []strict.Field{
				{"gpu_model", "the model, which is the name of its series in the demand", strict.Name(&g.Model)},
				{"on_demand", "of a GPU for an hour", price(&g.OnDemand)},
				{"lot", "GPUs per lot: 8 for whole nodes; default: 1", thousandths(&g.Lot)},
				{"tail", "GPUs that are wanted after the end of the demand, with after: tail", thousandths(&g.Tail)},
			})
			o.Require("gpu_model", "on_demand")
			if slices.ContainsFunc(m.GPUs, func(x MarketGPU) bool { return x.Model == g.Model }) {
				d.Fault(n, "%s is listed twice", capcli.Quoted(g.Model))
			}
			if g.OnDemand.pending {
				d.Fault(n, "the price of %s is a key that the catalogue has not", capcli.Quoted(g.Model))
			}
			m.GPUs = append(m.GPUs, g)
		})
	}
}

// offerText is an offer while it is read.
type offerText struct {
	MarketOffer
	price    Price
	machine  *billing.Machine
	extended Price
	every    capcli.Step
	fee      int64
	perHour  Price
}

func marketOffers(m *Market) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxList, "offers", func(_ int, n *yaml.Node) {
			x := offerText{MarketOffer: MarketOffer{From: capcli.NoTime, Until: capcli.NoTime, node: n, Line: n.Line}}
			var names []string
			for _, e := range billing.Products.All() {
				if e.Value.Product.Form().IsOffered() {
					names = append(names, e.Name)
				}
			}
			o := d.ReadObject(n, "offers", []strict.Field{
				{"name", "what the plan calls it; default: its product and term", strict.Name(&x.Name)},
				{"product", "", strict.Choice(&x.Product, "product", names...)},
				{"gpu_model", "the model that it is for; plans say it in rates", strict.Name(&x.gpuModel)},
				{"term", "its length: 1y, 6mo, 2w", stepOf(&x.Length)},
				{"from", "capacity_block: first day", instantOf(&x.From)},
				{"until", "capacity_block: last day", lastDay(&x.Until)},
				{"price", "of a GPU for an hour of the term", price(&x.price)},
				{"max", "most GPUs, of plans most dollars an hour, that can be bought at one time", thousandths(&x.Max)},
				{"machine", "owned: what one GPU costs to own over its term: {capital: 31k, residual: 4k, watts: 1275, pue: 1.3, price_kwh: 0.11}", machineSection.Pointer(&x.machine)},
				{"rates", "plans: [{gpu_model: H100, discount: 28%}], the first that fits a model counts", planRates(&x.rates)},
				{"price_per_dollar", "plans: price of a dollar of commitment, below 1 for payment in advance; default: 1", price(&x.perHour)},
				{"extend", "an option to extend: {term: 6mo, price: 2.20}", x.extension()},
				{"terminate", "it may be ended early: {every: 3mo, fee: 50%}, a share of what was yet to be paid", x.exit()},
			})
			if o != nil && !d.IsDescribing(n) && x.check(o) {
				m.Offers = append(m.Offers, x.MarketOffer)
			}
		})
	}
}

func (x *offerText) extension() strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		o := d.ReadObject(n, "extend", []strict.Field{{"term", "by how long", stepOf(&x.Extend)}, {"price", "of a GPU for an hour of it", price(&x.extended)}})
		o.Require("term", "price")
		x.ExtendRate = x.extended.Rate
	}
}

func (x *offerText) exit() strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		o := d.ReadObject(n, "terminate", []strict.Field{{"every", "it may be ended at multiples of this time after its start", stepOf(&x.every)}, {"fee", "share of what is yet to be paid", share(&x.fee)}})
		o.Require("every", "fee")
	}
}

// mostExits is the largest number of dates on which an offer may be ended.
const mostExits = 60

// check checks and completes an offer. It reports false after a fault.
func (x *offerText) check(o *strict.Object) bool {
	before := o.Decoder.FaultCount()
	o.Require("product")
	form := &billing.Form{}
	if p, err := billing.Products.Get(x.Product); err == nil {
		form = p.Product.Form()
	}
	block := form.Block
	switch {
	case block:
		o.Require("from", "until")
		if o.Has("term") {
			o.FaultName("term", "a capacity block has dates; leave term out")
		}
		if x.From.IsKnown() && x.Until.IsKnown() && x.Until <= x.From {
			o.Fault("until", "it ends %s, and begins %s", x.Until, x.From)
		}
		x.Fixed, x.Length = true, capcli.Step{Seconds: capcli.Seconds(max(1, x.Until-x.From))}
	case o.Has("from") || o.Has("until"):
		o.FaultName("from", "from and until are for capacity_block; give a term")
	default:
		o.Require("term")
	}
	if form.Commit != nil {
		x.checkPlan(o)
	} else {
		x.checkUnits(o, form)
	}
	if x.every.Length() > 0 && x.Length.Length() > 0 {
		for at := x.every; at.Length() < x.Length.Length() && len(x.Exits) < mostExits; at = addSteps(at, x.every) {
			x.Exits = append(x.Exits, Exit{After: at, Share: x.fee})
		}
	}
	if x.Name == "" && x.Product != "" {
		x.Name = x.Product
		if !block {
			x.Name = fmt.Sprintf("%s %s", x.Product, x.Length)
		}
	}
	return o.Decoder.FaultCount() == before
}

func addSteps(a, b capcli.Step) capcli.Step {
	return capcli.Step{Seconds: a.Seconds + b.Seconds, Days: a.Days + b.Days, Months: a.Months + b.Months}
}

// checkPlan checks a commitment to money.
func (x *offerText) checkPlan(o *strict.Object) {
	o.Require("rates")
	o.FaultEach([]string{"gpu_model", "price", "machine", "extend", "terminate"}, "%s is no field of %s, which commits to money", x.Product)
	if x.Rate = capcli.Dollar; x.perHour.Known {
		x.Rate = x.perHour.Rate
	}
	x.Model = -1
}

// checkUnits checks an offer of GPUs.
func (x *offerText) checkUnits(o *strict.Object, form *billing.Form) {
	o.Require("gpu_model")
	o.FaultEach([]string{"rates", "price_per_dollar"}, "%s is for plans, which commit to money")
	switch {
	case o.Has("machine") && form.Ownership == nil:
		o.FaultName("machine", "machine is for owned; give a price")
	case o.Has("machine") == o.Has("price"):
		o.FaultMissing("price", "price is missing: what a GPU costs for an hour of the term; or machine, of owned ones; one of the two")
	case x.machine != nil:
		fees, err := x.machine.Fees(1000)
		if err == nil {
			x.Rate, err = billing.Spread(fees.Upfront-fees.Residual, int64(max(1, x.Length.Length())))
		}
		if err != nil {
			o.Fault("machine", "%v", err)
			return
		}
		x.Rate += fees.Hourly
	case x.price.pending:
		o.Fault("price", "the price is a key that the catalogue has not")
	default:
		x.Rate = x.price.Rate
	}
}

// match sets the models of each offer, and faults offers for models that are not in demand.
func (m *Market) match(d *strict.Decoder) {
	for i := range m.Offers {
		x := &m.Offers[i]
		if x.Model < 0 {
			x.Rates = m.rates(x)
			if !slices.ContainsFunc(x.Rates, func(r capcli.Rate) bool { return r > 0 }) {
				d.Fault(x.node, "offer %s covers none of the GPU models of the market", x.Name)
			}
			continue
		}
		if x.Model = slices.IndexFunc(m.GPUs, func(g MarketGPU) bool { return g.Model == x.gpuModel }); x.Model < 0 {
			d.Fault(x.node, "offer %s is for %s, which is not under gpus", x.Name, capcli.Quoted(x.gpuModel))
		}
	}
}

// rates returns the price of a GPU-hour of each model under a plan; 0 is not covered.
func (m *Market) rates(x *MarketOffer) []capcli.Rate {
	out := make([]capcli.Rate, len(m.GPUs))
	for i, g := range m.GPUs {
		for k := range x.rates {
			r := &x.rates[k]
			if r.Scope.GPUModel != "" && r.Scope.GPUModel != g.Model {
				continue
			}
			if out[i] = r.Rate; r.Rate == 0 {
				out[i] = g.OnDemand.Rate - billing.Share(g.OnDemand.Rate, r.Discount, 1_000_000)
			}
			break
		}
	}
	return out
}
