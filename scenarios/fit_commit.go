package scenarios

import (
	"fmt"
	"strings"

	"capcli"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
)

// FitCommitment writes a scenario for a plan of how many GPUs to commit to: one pool for all jobs, at
// the price of o.Commit, a term or the key of a price, a place or no place as the price says, with
// on-demand capacity of the same machine behind it, and jobs that run on GPUs of any model. The pool has the size that the log suggests. own is the user's prices; nil is none. It fails
// with *capcli.RequestError where the model has no such price.
func (s *LogSurvey) FitCommitment(o FitOptions, own *prices.List) (*Fitted, error) {
	if len(s.groups) == 0 {
		return nil, noJobs(s)
	}
	offer, ok := prices.OfferFor(own, o.GPUModel)
	if prices.IsKey(o.Commit) {
		offer, ok = prices.OfferWith(own, o.GPUModel, o.Commit)
	}
	if !ok {
		return nil, NoPriceError(own, o.GPUModel)
	}
	term, ok := offer.ForTerm(o.Commit)
	if !ok {
		return nil, &capcli.RequestError{
			Field: "commit", Text: fmt.Sprintf("wants a term that %s has a price for, found %q", o.GPUModel, o.Commit),
			Hint: "have " + strings.Join(offer.Terms(), ", ") + "; capcli prices show " + offer.OnDemand.Key(),
		}
	}
	w := &fitWriter{survey: s, o: o, out: &Fitted{Pools: 1}}
	gpus, why := s.Size()
	w.out.GPUs = gpus
	w.line("# Made for %s: %s jobs that want GPUs, submitted %s.", strict.Printable(o.Log), capcli.Grouped(s.jobs-s.cpuOnly), days(s.first, s.last))
	w.line("# How many GPUs to commit to: capcli plan mix plan.yaml --futures futures.parquet")
	w.line("")
	w.line("capcli: %s", version)
	w.line("name: %s", yamlText(stem(o.Log)))
	w.jobs()
	if o.From == "" {
		w.line("jobs:")
	}
	w.line("  any_model: true")
	w.line("")
	w.line("capacity:")
	w.line("  - name: base")
	w.line("    kind: reserved")
	w.line("    gpu_model: %s", yamlText(o.GPUModel))
	w.line("    gpus: %d                     # %s", gpus, why)
	w.line("    term: %s", yamlText(term.Term))
	w.line("    price: %s", term.Key())
	w.line("    fenced: %-20v # %s", !term.Properties().Floats(), fenceText(term))
	w.line("  - name: burst")
	w.line("    kind: on_demand")
	w.line("    gpu_model: %s", yamlText(o.GPUModel))
	w.line("    price: %s", offer.OnDemand.Key())
	w.line("")
	w.line("policy: easy")
	w.line("overflow: {patience: 0s}")
	w.note("the pool has %s GPUs, %s", capcli.Grouped(gpus), why)
	w.out.Text = []byte(w.b.String())
	if _, err := ParseWith(own, "plan.yaml", w.out.Text); err != nil {
		return nil, fmt.Errorf("the log's names make no scenario: %w", err)
	}
	return w.out, nil
}

// fenceText says what the properties of a term make of its pool.
func fenceText(term *prices.Quote) string {
	if term.Properties().Floats() {
		return "no place: the term lowers the bill of on-demand use, wherever jobs run"
	}
	return "a place: only jobs that run in it use it"
}

// NoPriceError says that a GPU model has no on-demand price, and which models have one.
func NoPriceError(own *prices.List, model string) error {
	var have []string
	list := own.Override(prices.Catalogue())
	for _, m := range list.Models() {
		if _, _, ok := list.KeysForModel(m); ok {
			have = append(have, m)
		}
	}
	return &capcli.RequestError{
		Field: "gpu", Text: fmt.Sprintf("%s has no price on demand; the catalogue has %s", capcli.Quoted(model), strings.Join(have, ", ")),
		Hint: "give your own prices: --prices FILE (capcli prices --help)",
	}
}

func noJobs(s *LogSurvey) error {
	return &capcli.InputError{Text: fmt.Sprintf("expected jobs that want GPUs, found none among %s", capcli.Grouped(s.jobs)), Hint: "capcli trace describe says what is in a log"}
}
