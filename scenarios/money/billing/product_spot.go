package billing

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"capcli"
)

// Spot use is billed for the seconds used, at the spot price of each moment, and never above
// the on-demand price. On AWS, a Linux instance that AWS interrupts in its first hour is free;
// one that is interrupted later, or that its user ends, pays for the seconds used. No
// commitment covers spot.
//
// Source: AWS EC2 User Guide, "Billing for interrupted Spot Instances"; Microsoft Learn, "Azure
// Spot Virtual Machines" (never above pay-as-you-go); Google Cloud, "Spot VMs pricing".

// FreeInterruption reports whether a spot line is free because AWS interrupted a Linux instance
// in its first hour.
func (l *UseLine) FreeInterruption() bool {
	return l.Kind == UseSpot && l.Ended == EndedByProvider && l.SKU.Provider == "aws" &&
		osOf(l.SKU.OS) == "linux" && l.Seconds < capcli.Hour
}

// spot adds a spot line, cut where the price changes. Time added by a minimum billing time has
// the price of its own moment. It fails with errNoSpotPrice.
func (g *gatherer) spot(l *UseLine, prices series) error {
	b := l.bucket()
	length := max(l.Seconds, l.Minimum)
	if l.FreeInterruption() {
		b.paid = 0
		return g.stretch(b, g.lineUser(l), l.Units, l.Start, l.Seconds)
	}
	steps := prices[l.SKU]
	if len(steps) == 0 {
		if l.Spot == 0 && l.Price > 0 {
			return errNoSpotPrice
		}
		return g.stretch(b, g.lineUser(l), l.Units, l.Start, length)
	}
	at, end := l.Start, l.Start+capcli.Time(length)
	i := 0
	for i+1 < len(steps) && steps[i+1].At <= at {
		i++
	}
	if steps[i].At > at {
		return errNoSpotPrice
	}
	for at < end {
		until := end
		if i+1 < len(steps) {
			until = min(end, max(at, steps[i+1].At))
		}
		b.paid = min(steps[i].Price, l.Price)
		if err := g.stretch(b, g.lineUser(l), l.Units, at, capcli.Seconds(until-at)); err != nil {
			return err
		}
		at = until
		i++
	}
	return nil
}

// MatchSpotPrices replaces the series of spot prices by those of the SKUs of the record's spot
// use. For each SKU it takes the series that matches it, where a field that the series does not
// name matches any. Of several, the one that names most fields is taken, ties to the first in
// order of SKU. Series that match no use are dropped.
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

// namedFields returns how many fields of a SKU are named.
func namedFields(s *SKU) int {
	n := 0
	for _, f := range s.fields() {
		n += capcli.Bit(f != "")
	}
	return n
}

// fields returns the fields of a SKU, in the order in which compareSKU compares them.
func (s *SKU) fields() [8]string {
	return [8]string{s.Provider, s.Region, s.Zone, s.Family, s.Size, s.GPUModel, s.Service, s.OS}
}

func compareSKU(a, b *SKU) int {
	x, y := a.fields(), b.fields()
	return slices.Compare(x[:], y[:])
}

// ReadSpotPrices reads steps of spot prices as CSV and returns them in order of time. The
// columns are at, price and the SKU: instance_type, gpu_model, provider, region, zone, service,
// os. It fails with a *capcli.InputError.
func ReadSpotPrices(name string, r io.Reader) ([]SpotPrice, error) {
	s, err := capcli.NewSheet(name, r, ",")
	if err != nil {
		return nil, err
	}
	at, price := s.FindColumn("at", "time", "timestamp", "ds"), s.FindColumn("price", "spot_price", "y")
	if at < 0 || price < 0 {
		return nil, s.Fault("", "expected the columns at and price, found "+s.QuotedNames(), "at,price,instance_type,region,zone")
	}
	u := newUseReader(s, UseOptions{})
	if u.place[useZone] < 0 {
		u.place[useZone] = s.FindColumn("availability_zone")
	}
	var out []SpotPrice
	err = s.EachRow(func() (err error) {
		x := SpotPrice{SKU: u.sku()}
		if x.At, err = seriesTime(s, at); err != nil {
			return err
		}
		text := string(bytes.TrimSpace(s.Row[price]))
		if x.Price, err = capcli.ParseUSD(text); err != nil || x.Price <= 0 {
			return s.FaultUnwanted(s.Names[price], "a price above 0", text, "")
		}
		if out = append(out, x); len(out) > maxSamples {
			return s.Fault("", fmt.Sprintf("over %d prices", maxSamples), "")
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b SpotPrice) int { return cmp.Compare(a.At, b.At) })
	return out, err
}
