package billing

import (
	"cmp"
	"slices"
)

// MatchSpotPrices gives every SKU that spot use of the record names the series of
// spot prices that fits it best: what a series leaves out fits any, and the one
// that says most counts, ties to the one that is first by name. Series that no
// use has are dropped.
func (r *UseRecord) MatchSpotPrices() {
	series := map[SKU][]SpotPrice{}
	var of []SKU
	for _, p := range r.SpotPrices {
		if series[p.SKU] == nil {
			of = append(of, p.SKU)
		}
		series[p.SKU] = append(series[p.SKU], p)
	}
	slices.SortFunc(of, func(a, b SKU) int { return cmp.Or(namedFields(&b)-namedFields(&a), compareSKU(&a, &b)) })
	var out []SpotPrice
	done := map[SKU]bool{}
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Kind != UseSpot || done[l.SKU] {
			continue
		}
		done[l.SKU] = true
		for _, k := range of {
			scope := Scope{Provider: k.Provider, Region: k.Region, Zone: k.Zone, Family: k.Family, Size: k.Size, GPUModel: k.GPUModel, Service: k.Service, OS: k.OS}
			if !scope.Matches(&l.SKU, "") {
				continue
			}
			for _, p := range series[k] {
				p.SKU = l.SKU
				out = append(out, p)
			}
			break
		}
	}
	r.SpotPrices = out
}

// namedFields is how many fields of a SKU are named.
func namedFields(s *SKU) int {
	n := 0
	for _, f := range s.fields() {
		n += btoi(f != "")
	}
	return n
}

func (s *SKU) fields() [8]string {
	return [8]string{s.Provider, s.Region, s.Zone, s.Family, s.Size, s.GPUModel, s.Service, s.OS}
}

func compareSKU(a, b *SKU) int {
	x, y := a.fields(), b.fields()
	return slices.Compare(x[:], y[:])
}
