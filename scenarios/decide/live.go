package decide

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/vary"
	"capcli/scenarios/whatif"
)

// maxDocument is the most bytes of a document of a decision.
const maxDocument = 256 << 20

// OpenWorld returns what a page carries to answer with other numbers than those of the decision in the file name: its
// futures, purchases, prices and limits, and the sizes of fenced GPUs that were played, from the documents beside
// it. It fails with *capcli.InputError where a document is missing or is not of the decision, and with
// *capcli.RequestError where the futures are too many for a page.
func OpenWorld(ctx context.Context, open trace.Opener, name string) (*vary.World, error) {
	var r Result
	var bought futures.Result
	folder := filepath.Dir(name)
	if err := readDocument(open, name, &r); err != nil {
		return nil, err
	}
	if r.Schema != schema {
		return nil, &capcli.InputError{File: name, Field: "schema", Text: fmt.Sprintf("expected %s, found %.40q", schema, r.Schema), Hint: "capcli decide … --out decision writes decision/" + DecisionFile}
	}
	if err := readDocument(open, filepath.Join(folder, PurchasesFile), &bought); err != nil {
		return nil, err
	}
	c := &chain{settled: &settled{Request: &Request{Seed: capcli.Seed(r.Seed)}}}
	source := c.source()
	source.File = filepath.Join(folder, FuturesFile)
	set, err := source.Read(ctx, demand.Sources{Open: open, Progress: func(string) (at, end func(int64)) { return func(int64) {}, func(int64) {} }})
	if err != nil {
		return nil, err
	}
	meter, err := plan.NewMeter(&set.Futures)
	if err != nil {
		return nil, &capcli.InputError{File: source.File, Text: err.Error()}
	}
	w := &vary.World{
		Schema: vary.Schema, Start: meter.Origin, Step: meter.Step, Steps: len(meter.Milli[0]), Count: len(meter.Milli), Lot: int64(1000*bought.Market.Lot + 0.5),
		Limits: r.Limits, Hold: r.Hold, Places: []vary.Place{},
	}
	w.Lot = max(w.Lot, 1)
	if w.Demand, err = vary.Pack(meter); err != nil {
		return nil, err
	}
	if err := r.tellMarket(w, &bought); err != nil {
		return nil, err
	}
	if err := r.tellPlaces(w, open, folder); err != nil {
		return nil, err
	}
	return w, r.settleFigures(w, filepath.Join(folder, FuturesFile))
}

func readDocument(open trace.Opener, name string, to any) error {
	text, err := open.ReadFile(name, maxDocument)
	if err != nil {
		return &capcli.InputError{File: name, Text: "expected a document of the decision, found none that can be read", Hint: "keep the folder of capcli decide --out together", Err: err}
	}
	if err := json.Unmarshal(text, to); err != nil {
		return &capcli.InputError{File: name, Text: "expected a document of capcli, found " + err.Error(), Err: err}
	}
	return nil
}

func (r *Result) tellMarket(w *vary.World, bought *futures.Result) error {
	m := &bought.Market
	if len(m.OnDemand) != 1 || m.Discount != 0 || m.After != (plan.After{}).String() {
		return &capcli.InputError{File: PurchasesFile, Field: "market", Text: "expected one on-demand price, no discount and terms that count with their part within, found others", Hint: "take the one that capcli decide wrote"}
	}
	w.OnDemand.Rate = m.OnDemand[0].Rate
	add := func(name string, rate capcli.Rate) {
		row := prices.Row{Term: name}
		if months, ok := row.Months(); ok && !slices.ContainsFunc(w.Terms, func(t vary.Term) bool { return t.Name == name }) {
			w.Terms = append(w.Terms, vary.Term{Name: name, Months: months, Rate: rate})
		}
	}
	for i := range m.Terms {
		if list := m.Terms[i].Prices; len(list) > 0 {
			add(m.Terms[i].Name, list[0].Rate)
		}
	}
	for _, p := range r.Prices {
		switch {
		case p.Term == "on_demand":
			w.OnDemand.Key = p.Key
		case r.Bound == nil && len(m.Terms) > 0: // no place can be had, so all of them cover
			add(p.Term, p.Rate)
		}
	}
	spot := strings.TrimSuffix(w.OnDemand.Key, "/on_demand") + "/spot"
	list := prices.Catalogue().Quotes()
	if i := slices.IndexFunc(list, func(q prices.Quote) bool { return q.Key() == spot }); i >= 0 {
		w.Spot = &vary.Price{Key: spot, Rate: list[i].PerGPU()}
	}
	since := func(i market.Instant) capcli.Seconds { return capcli.Seconds(i.Time - w.Start) }
	for _, p := range bought.Optimum.Purchases {
		term := slices.IndexFunc(w.Terms, func(t vary.Term) bool { return t.Name == p.Term })
		w.Bought = append(w.Bought, vary.Purchase{Term: term, From: since(p.Start), To: since(p.End), Milli: int64(1000*p.GPUs + 0.5), Rate: p.Rate})
	}
	for _, h := range bought.Held {
		w.OnHand = append(w.OnHand, plan.Held{From: since(h.Start), To: since(h.End), Milli: int64(1000*h.GPUs + 0.5)})
	}
	return nil
}

// tellPlaces tells a world the sizes of fenced GPUs that were played, where a place can be had.
func (r *Result) tellPlaces(w *vary.World, open trace.Opener, folder string) error {
	if r.Bound == nil {
		return nil
	}
	var played mix.Result
	if err := readDocument(open, filepath.Join(folder, planFile), &played); err != nil {
		return err
	}
	for _, s := range r.Steps {
		words := strings.Fields(s.Command)
		if i := slices.Index(words, "--commit"); s.Name == "scenario" && i > 0 && i+1 < len(words) {
			key := strings.Trim(words[i+1], "'")
			if k := slices.IndexFunc(r.Prices, func(p Price) bool { return p.Key == key }); k >= 0 {
				w.Fenced = &vary.Price{Key: key, Rate: r.Prices[k].Rate}
			}
		}
	}
	if w.Fenced == nil {
		return &capcli.InputError{File: DecisionFile, Field: "prices", Text: "expected the price of the fenced GPUs of the step scenario, found none"}
	}
	for _, m := range slices.Concat(played.Plans, played.All, []*mix.Mix{played.Best, played.Own, played.Closest}) {
		p, ok := placeOf(m)
		if ok && !slices.ContainsFunc(w.Places, func(o vary.Place) bool { return o.GPUs == p.GPUs && o.Patience == p.Patience }) {
			w.Places = append(w.Places, p)
		}
	}
	return nil
}

// placeOf returns the fenced GPUs of a mix with its figures; false where it was not played.
func placeOf(m *mix.Mix) (p vary.Place, ok bool) {
	if m == nil || m.Cost == nil || m.OnDemand == nil || len(m.Choices) != 2 {
		return p, false
	}
	p = vary.Place{Patience: m.Choices[1].Value, Cost: *m.Cost, OnDemand: *m.OnDemand}
	if b := m.Commitments; b != nil {
		p.Bills = b.Committed
	}
	for _, x := range []struct {
		to   *float64
		from *float64
	}{{&p.WaitP95, m.WaitP95}, {&p.Unserved, m.Unserved}, {&p.Held, m.Held}} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	_, err := fmt.Sscan(m.Choices[0].Value, &p.GPUs)
	return p, err == nil
}

// settleFigures gives a world the figures of its purchases, and holds them against those of the decision.
func (r *Result) settleFigures(w *vary.World, file string) error {
	e, err := w.Engine()
	if err != nil {
		return err
	}
	a, err := e.Answer(whatif.Request{})
	if err != nil {
		return err
	}
	w.Decided = &a.Figures
	for _, c := range []*Choice{r.Plan, r.Nearest} {
		if c != nil && c.Played == 0 && (c.As == asBill || r.Bound == nil) && c.Cost != a.Figures.Cost {
			return &capcli.InputError{File: file, Text: fmt.Sprintf("expected the futures of the decision, whose plan costs %s on them, found others: %s", c.Cost, a.Figures.Cost), Hint: "keep the folder of capcli decide --out together"}
		}
	}
	return nil
}
