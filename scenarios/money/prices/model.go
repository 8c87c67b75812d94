package prices

import (
	"cmp"
	"regexp"
	"strings"
)

// Models returns the GPU models that have a price, sorted.
func (p *List) Models() []string {
	return wordsOf(p.Quotes(), func(q *Quote) []string { return []string{q.GPU} })
}

// KeysForModel returns the keys of prices for a GPU model as a log names it. Among the machines of
// the model with an on-demand price it takes the cheapest on demand, and prefers machines that also
// have a price for a year. ok is false if no such machine is known; year is "" if none has a price
// for a year.
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

// namesModel reports whether a log's name of a GPU matches that of a price. Letter case, the maker,
// the socket and separators are ignored, so that a100_80, A100-80GB and NVIDIA A100-SXM4-80GB are
// the same. The log may add the memory size in firstMemory that the price list leaves out.
func namesModel(log, list string) bool {
	a, b := modelKey(log), modelKey(list)
	return a == b || a == b+firstMemory[b]
}

// firstMemory is the memory in GB of the model that a price list names without a memory size.
var firstMemory = map[string]string{
	"v100": "16", "a100": "40", "h100": "80", "h200": "141", "t4": "16", "l4": "24", "l40s": "48", "a10": "24", "a10g": "24", "b200": "192", "mi300x": "192",
}

var (
	modelWord   = regexp.MustCompile(`[a-z0-9]+`)
	modelFiller = regexp.MustCompile(`^(nvidia|tesla|geforce|quadro|amd|instinct|sxm\d?|pcie|hbm\d?e?|nvl)$`)
)

// modelKey returns the words of a model's name that distinguish it.
func modelKey(s string) string {
	key := ""
	for _, word := range modelWord.FindAllString(strings.ToLower(s), -1) {
		if !modelFiller.MatchString(word) {
			key += strings.TrimSuffix(word, "gb")
		}
	}
	return key
}

// SameModel reports whether two names may be of the same GPU: A100 and A100-80GB, or NVIDIA H100
// 80GB HBM3 and H100.
func SameModel(a, b string) bool { return withoutMemory(modelName(a)) == withoutMemory(modelName(b)) }

// withoutMemory cuts what follows the number of a model: A100 of A100-80GB, but TPU-v5e whole.
func withoutMemory(name string) string {
	short, _, _ := strings.Cut(name, "-")
	if strings.ContainsAny(short, "0123456789") {
		return short
	}
	return name
}
