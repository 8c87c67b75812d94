package prices

import (
	"cmp"
	"regexp"
	"strings"
)

// Models are the GPU models that have a price, in order.
func (p *List) Models() []string {
	return wordsOf(p.Quotes(), func(q *Quote) []string { return []string{q.GPU} })
}

// KeysForModel gives keys of prices for a GPU model as a log names it: of the
// machines with a price on demand, and for a year where one has that, the
// cheapest on demand. ok is false where no machine of the model is known; year
// is "" where none has a price for a year.
func (p *List) KeysForModel(model string) (year, onDemand string, ok bool) {
	if model == "" {
		return "", "", false
	}
	var best *Quote
	for _, machine := range groupByMachine(p.Quotes()) {
		var demand, committed *Quote
		for i := range machine {
			q := &machine[i]
			switch {
			case !namesModel(model, q.GPU):
			case q.Term == "on_demand":
				demand = q
			case q.Term == "1y" && (q.Payment == "" || q.Payment == "none"):
				committed = q
			}
		}
		if demand == nil || year != "" && committed == nil {
			continue
		}
		better := best == nil || year == "" && committed != nil ||
			cmp.Or(cmp.Compare(demand.PerGPU(), best.PerGPU()), cmp.Compare(demand.Key(), best.Key())) < 0
		if !better {
			continue
		}
		best, onDemand = demand, demand.Key()
		if committed != nil {
			year = committed.Key()
		}
	}
	return year, onDemand, best != nil
}

// namesModel tells whether a log's name of a GPU is that of a price: letter case,
// the maker, the socket and what stands between words do not count, so that
// a100_80, A100-80GB and NVIDIA A100-SXM4-80GB are one. A size of memory that
// the price list leaves out, for it is the model's only or first, may be said.
func namesModel(log, list string) bool {
	a, b := modelKey(log), modelKey(list)
	return a == b || a == b+firstMemory[b]
}

// firstMemory is the memory in GB that a price list means where it names the
// model alone.
var firstMemory = map[string]string{
	"v100": "16", "a100": "40", "h100": "80", "h200": "141", "t4": "16", "l4": "24", "l40s": "48", "a10": "24", "a10g": "24", "b200": "192", "mi300x": "192",
}

var (
	modelWord   = regexp.MustCompile(`[a-z0-9]+`)
	modelFiller = regexp.MustCompile(`^(nvidia|tesla|geforce|quadro|amd|instinct|sxm\d?|pcie|hbm\d?e?|nvl)$`)
)

// modelKey is the words of a model's name that tell it from others.
func modelKey(s string) string {
	key := ""
	for _, word := range modelWord.FindAllString(strings.ToLower(s), -1) {
		if !modelFiller.MatchString(word) {
			key += strings.TrimSuffix(word, "gb")
		}
	}
	return key
}

// SameModel tells whether two names may be of one GPU: A100 and A100-80GB, or
// NVIDIA H100 80GB HBM3 and H100.
func SameModel(a, b string) bool {
	a, _, _ = strings.Cut(modelName(a), "-")
	b, _, _ = strings.Cut(modelName(b), "-")
	return a == b
}
