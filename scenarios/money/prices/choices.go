package prices

import (
	"slices"
	"strings"
)

// A Choice is a price that a user can name: its key and a description.
type Choice struct{ Key, About string }

// Choices returns the keys of the list in order, for prices on the given terms; "" is all terms. It
// includes keys that name a GPU model instead of the machine.
func (l *List) Choices(terms string) []Choice {
	var out []Choice
	for _, q := range l.Quotes() {
		if terms != "" && q.Terms() != terms {
			continue
		}
		about := q.GPU + ", $" + q.PerGPU().Decimal() + " a GPU-hour"
		out = append(out, Choice{q.Key(), about})
		byModel := strings.ToLower(q.Provider + "/" + q.Region + "/" + q.GPU + "/" + q.Terms())
		if found, err := l.Find(byModel); err == nil && found.Key() == q.Key() && byModel != q.Key() {
			out = append(out, Choice{byModel, about})
		}
	}
	slices.SortFunc(out, func(a, b Choice) int { return strings.Compare(a.Key+"\t"+a.About, b.Key+"\t"+b.About) })
	return slices.Compact(out)
}

// Length returns the length of the commitment of the price, 1y or 3mo; "" if there is none.
func (c *Choice) Length() string {
	terms := c.Key[strings.LastIndexByte(c.Key, '/')+1:]
	length, _, _ := strings.Cut(terms, "-")
	if strings.HasSuffix(length, "y") || strings.HasSuffix(length, "mo") {
		return length
	}
	return ""
}
