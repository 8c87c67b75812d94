package prices

import (
	"cmp"
	"slices"
)

// Offer is what can be had of one machine of a GPU model: on demand, and for how long one can commit
// without paying ahead, the shortest term first.
type Offer struct {
	OnDemand  Quote
	Committed []Quote
}

// OfferFor returns the offer for a GPU model as a log or a person names it. It takes the prices of
// own where they have the model on demand, else those of the catalogue, and of the machines that
// KeysForModel does. ok is false where no machine of the model has an on-demand price.
func OfferFor(own *List, model string) (offer *Offer, ok bool) {
	for _, list := range []*List{own, own.Override(Catalogue())} {
		if list == nil {
			continue
		}
		_, key, ok := list.KeysForModel(model)
		if !ok {
			continue
		}
		machine, err := list.Machine(key)
		if err != nil {
			continue
		}
		o := &Offer{}
		for _, q := range machine {
			_, long := q.Months()
			switch {
			case q.Key() == key:
				o.OnDemand = q
			case long && (q.Payment == "" || q.Payment == "none"):
				o.Committed = append(o.Committed, q)
			}
		}
		slices.SortStableFunc(o.Committed, func(a, b Quote) int { return cmp.Compare(termRank(&a.Row), termRank(&b.Row)) })
		return o, true
	}
	return nil, false
}

// ForTerm returns the commitment of a term, "1y".
func (o *Offer) ForTerm(term string) (*Quote, bool) {
	i := slices.IndexFunc(o.Committed, func(q Quote) bool { return q.Term == term })
	if i < 0 {
		return nil, false
	}
	return &o.Committed[i], true
}

// Terms returns the terms of the commitments.
func (o *Offer) Terms() []string {
	var out []string
	for _, q := range o.Committed {
		out = append(out, q.Term)
	}
	return out
}
