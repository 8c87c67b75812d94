package prices

import (
	"slices"
	"strings"
)

// A Choice is a price that somebody may name: its key, and what it is.
type Choice struct{ Key, About string }

// Choices returns the keys of the list in order, also those that name a GPU model in
// place of the machine, on some terms; terms "" is all.
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

// Length returns the time that the price commits to, 1y or 3mo; "" where it commits to
// none.
func (c *Choice) Length() string {
	terms := c.Key[strings.LastIndexByte(c.Key, '/')+1:]
	length, _, _ := strings.Cut(terms, "-")
	if strings.HasSuffix(length, "y") || strings.HasSuffix(length, "mo") {
		return length
	}
	return ""
}
