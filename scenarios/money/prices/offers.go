package prices

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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
		return offerOf(machine, key), true
	}
	return nil, false
}

// offerOf returns the offer of the quotes of a machine; onDemand is the key of its on-demand price, ""
// for whichever it has.
func offerOf(machine []Quote, onDemand string) *Offer {
	o := &Offer{}
	for _, q := range machine {
		_, long := q.Months()
		switch {
		case q.Key() == onDemand, onDemand == "" && q.Term == "on_demand":
			o.OnDemand = q
		case long && (q.Payment == "" || q.Payment == "none"):
			o.Committed = append(o.Committed, q)
		}
	}
	slices.SortStableFunc(o.Committed, func(a, b Quote) int { return cmp.Compare(termRank(&a.Row), termRank(&b.Row)) })
	return o
}

// OffersFor returns what every seller has of a GPU model: the machines of own and of the catalogue
// with an on-demand price, by provider, and of each provider those alone that no other of its machines
// beats on demand and on every term. Within a provider the cheapest on demand comes first. provider
// names the one to list; "" lists all.
func OffersFor(own *List, model, provider string) []Offer {
	byProvider := map[string][]Offer{}
	for _, machine := range groupByMachine(own.Override(Catalogue()).Quotes()) {
		o := offerOf(machine, "")
		p := strings.ToLower(machine[0].Provider)
		if o.OnDemand.Hourly > 0 && namesModel(model, o.OnDemand.GPU) && (provider == "" || strings.EqualFold(provider, p)) {
			byProvider[p] = append(byProvider[p], *o)
		}
	}
	var out []Offer
	for _, p := range slices.Sorted(maps.Keys(byProvider)) {
		list := byProvider[p]
		slices.SortFunc(list, func(a, b Offer) int {
			return cmp.Or(cmp.Compare(a.OnDemand.PerGPU(), b.OnDemand.PerGPU()), cmp.Compare(len(b.Committed), len(a.Committed)), cmp.Compare(a.OnDemand.Key(), b.OnDemand.Key()))
		})
		var kept []Offer
		for _, o := range list {
			if !slices.ContainsFunc(kept, func(k Offer) bool { return k.beats(&o) }) {
				kept = append(kept, o)
			}
		}
		out = append(out, kept...)
	}
	return out
}

// OfferWith returns the offer of the machine that has a commitment of the given key. ok is false where no
// machine of the model with an on-demand price has it.
func OfferWith(own *List, model, key string) (offer *Offer, ok bool) {
	list := own.Override(Catalogue())
	q, err := list.Find(key)
	if err != nil || !namesModel(model, q.GPU) {
		return nil, false
	}
	machine, err := list.Machine(q.Key())
	if err != nil {
		return nil, false
	}
	offer = offerOf(machine, "")
	return offer, offer.OnDemand.Hourly > 0
}

// beats reports whether o costs no more than b on demand and on every term that b has.
func (o *Offer) beats(b *Offer) bool {
	if o.OnDemand.PerGPU() > b.OnDemand.PerGPU() {
		return false
	}
	for i := range b.Committed {
		q, ok := o.ForTerm(b.Committed[i].Term)
		if !ok || q.PerGPU() > b.Committed[i].PerGPU() {
			return false
		}
	}
	return true
}

// ForTerm returns the commitment of a term, "1y", or of the key of a price.
func (o *Offer) ForTerm(term string) (*Quote, bool) {
	i := slices.IndexFunc(o.Committed, func(q Quote) bool { return q.Term == term || q.Key() == term })
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
