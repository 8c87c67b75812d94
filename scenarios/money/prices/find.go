package prices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/strict"
)

// Machine returns all terms of the machine that a key names. The key may leave out the term. It
// fails like Find.
func (p *List) Machine(key string) ([]Quote, error) {
	parts := strings.Split(key, "/")
	if len(parts) == 3 {
		parts = append(parts, "")
	}
	of, err := p.matches(key, parts)
	if err != nil {
		return nil, err
	}
	if parts[3] != "" {
		q, err := pickTerm(key, parts, of)
		if err != nil {
			return nil, err
		}
		of = slices.DeleteFunc(of, func(o Quote) bool { return o.machineKey() != q.machineKey() })
	}
	return of, nil
}

// Find returns the price that a key names: provider/region/machine/term. A GPU model may stand for
// the machine if all machines of the model cost the same per GPU. The term may leave out the
// payment if there is only one. It fails with a *capcli.UnknownError that lists what there is and
// suggests the nearest.
func (p *List) Find(key string) (Quote, error) {
	if p != nil {
		p.index()
		if i, ok := p.byKey[strings.ToLower(key)]; ok {
			return p.quotes[i], nil
		}
	}
	parts := strings.Split(key, "/")
	of, err := p.matches(key, parts)
	if err != nil {
		return Quote{}, err
	}
	return pickTerm(key, parts, of)
}

// matches returns the prices that match the first three parts of a key.
func (p *List) matches(key string, parts []string) ([]Quote, error) {
	if len(parts) == 1 && key != "" {
		return nil, missing("price key %s: want provider/region/machine/term, such as gcp/us-central1/%s/1y (capcli prices list --gpu %s)", capcli.Quoted(key), strict.Printable(strings.ToLower(key)), strict.Printable(key))
	}
	if len(parts) != 4 {
		return nil, missing("price key %s: want provider/region/machine/term, such as gcp/us-central1/a3-highgpu-8g/1y (capcli prices list)", capcli.Quoted(key))
	}
	var all []Quote
	if p != nil {
		all = p.Quotes()
	}
	for i, what := range []string{"provider", "region", "machine or GPU"} {
		kept := slices.DeleteFunc(slices.Clone(all), func(q Quote) bool { return !containsFold(q.words(i), parts[i]) })
		if len(kept) == 0 {
			return nil, noPart(key, parts, i, what, wordsOf(all, func(q *Quote) []string { return q.words(i) }))
		}
		all = kept
	}
	isOther := func(q Quote) bool { return !strings.EqualFold(q.Machine, parts[2]) }
	if slices.ContainsFunc(all, func(q Quote) bool { return !isOther(q) }) {
		all = slices.DeleteFunc(all, isOther) // a machine takes precedence over GPUs of the same name
	}
	return all, nil
}

// words returns the words that may stand in part i of a key for this price.
func (q *Quote) words(i int) []string {
	switch i {
	case 0:
		return []string{q.Provider}
	case 1:
		return []string{q.Region}
	}
	return []string{q.Machine, strings.ToLower(q.GPU)}
}

// wordsOf returns the words of all prices, sorted and without repeats.
func wordsOf(all []Quote, words func(*Quote) []string) []string {
	var out []string
	for i := range all {
		out = append(out, words(&all[i])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// containsFold reports whether word is one of words, ignoring case.
func containsFold(words []string, word string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

func pickTerm(key string, parts []string, of []Quote) (Quote, error) {
	want, ok := NormalTerm(parts[3])
	found := slices.DeleteFunc(slices.Clone(of), func(q Quote) bool {
		return !ok || want != q.Terms() && want != q.Term && (want != q.Term+"-none" || q.Payment != "")
	})
	if len(found) == 0 {
		return Quote{}, noPart(key, parts, 3, "term", wordsOf(of, func(q *Quote) []string { return []string{q.Terms()} }))
	}
	best := found[0]
	for _, q := range found[1:] {
		switch {
		case q.Terms() != best.Terms():
			return Quote{}, missing("price key %s is more than one: %s and %s; write the payment too", capcli.Quoted(key), best.Key(), q.Key())
		case q.PerGPU() != best.PerGPU():
			return Quote{}, missing("price key %s is more than one: a GPU-hour is $%s by %s and $%s by %s; name the machine",
				capcli.Quoted(key), best.PerGPU().Decimal(), best.Key(), q.PerGPU().Decimal(), q.Key())
		case q.GPUs > best.GPUs:
			best = q
		}
	}
	return best, nil
}

// noPart returns the error that part i of a key has no match. have are the words that would match.
func noPart(key string, parts []string, i int, what string, have []string) error {
	whole := make([]string, len(have)) // in a short part a typing error is found only in the whole key
	for k, h := range have {
		better := slices.Clone(parts)
		better[i] = h
		whole[k] = strings.TrimSuffix(strings.Join(better, "/"), "/")
	}
	hint := capcli.DidYouMean(strings.Join(parts, "/"), whole)
	if at := slices.Index(have, capcli.Nearest(parts[i], have)); at >= 0 {
		hint = fmt.Sprintf("; did you mean %q?", whole[at])
	}
	const most = 12
	list := strings.Join(have[:min(most, len(have))], ", ")
	switch {
	case len(have) == 0:
		list = "nothing"
	case len(have) > most:
		list += fmt.Sprintf(" and %d more", len(have)-most)
	}
	under := ""
	if i > 0 {
		under = " under " + strings.Join(parts[:i], "/")
	}
	return missing("no price has the key %s: there is no %s %s%s%s have %s (capcli prices list)", capcli.Quoted(key), what, capcli.Quoted(parts[i]), under, cmp.Or(hint, ":"), list)
}

func missing(format string, args ...any) error {
	return &capcli.UnknownError{Text: fmt.Sprintf(format, args...)}
}

// RateOf returns the price of a GPU-hour that text names: an amount such as 2.20, or a key. row is
// the price of a key; nil for an amount. It fails with *capcli.UnknownError for an unknown key.
func (p *List) RateOf(text string) (rate capcli.Rate, row *Row, err error) {
	if !IsKey(text) {
		rate, err = capcli.ParseUSD(text)
		return rate, nil, err
	}
	q, err := p.Find(strings.TrimSpace(text))
	if err != nil {
		return 0, nil, err
	}
	return q.PerGPU(), &q.Row, nil
}

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
