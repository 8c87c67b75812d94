package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"capcli"
)

// focusUse makes a record of use out of a bill in FOCUS.
type focusUse struct {
	o       UseOptions
	rec     *UseRecord
	rep     *UseReport
	details map[string]focusDetails
	tagged  map[string]string // tenant by the text of tags
	units   map[string]uint64 // seconds by the name of a unit

	notUse, unused, noHours, coarse, unlisted, rounded int64
	firstUnit                                          string
}

// focusDetails are what SkuPriceDetails says of a SKU, in the properties that
// FOCUS 1.2 names.
type focusDetails struct {
	InstanceType, InstanceSeries, OperatingSystem string
	GpuModel                                      string `json:"x_GpuModel"`
}

// readFocusUse takes the usage of a bill whose quantity is a time, at its list
// price: what was covered by commitments counts as on-demand use again, so that
// another portfolio can be laid over it. What went unused, purchases, taxes and
// use by other units (requests, gigabytes) are left out, and counted.
func readFocusUse(s *sheet, o UseOptions) (*UseRecord, *UseReport, error) {
	r, err := readFOCUS(s, FocusOptions{Spreadsheet: o.Spreadsheet})
	if err != nil {
		return nil, nil, err
	}
	f := &focusUse{o: o, rec: &UseRecord{}, rep: &UseReport{Format: "FOCUS"}, details: map[string]focusDetails{}, tagged: map[string]string{}, units: map[string]uint64{}}
	for row, err := range r.Rows() {
		if err == nil {
			err = f.add(s, row)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	read := r.Report()
	f.rep.Rows, f.rep.Unknown = read.Rows, read.Unknown
	f.rec.Currency = read.Currency
	if len(f.rec.Lines) == 0 {
		return nil, nil, s.fault("", "the bill has no use by the hour: no row of category Usage has a ConsumedUnit such as Hours and a list price",
			"capcli bill check says what is in it")
	}
	f.rec.span()
	f.rep.Lines = int64(len(f.rec.Lines))
	f.rep.Notes = append(read.Assumed, f.notes()...)
	f.rep.noteUnknown()
	return f.rec, f.rep, nil
}

func (f *focusUse) notes() []string {
	var out []string
	note := func(n int64, text string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, text))
		}
	}
	note(f.notUse, "rows left out: purchases, taxes, credits and adjustments")
	note(f.unused, "rows left out: commitments and reservations that nothing used")
	note(f.noHours, fmt.Sprintf("rows left out: their quantity is no time (first: %s)", capcli.Quoted(f.firstUnit)))
	note(f.coarse, "rows* have charge periods over one hour: their use is taken as even over the period")
	note(f.unlisted, "rows* state no list price: what they cost is taken for it")
	note(f.rounded, "rows* have prices of over six decimals or times below a thousandth of a second: rounded")
	return out
}

// add takes one row.
func (f *focusUse) add(s *sheet, r *FOCUS) (err error) {
	if r.ChargeCategory != focusUsage || r.ChargeClass == "Correction" {
		f.notUse++
		return nil
	}
	unused := r.CommitmentDiscountStatus == focusUnused || r.CapacityReservationStatus == focusUnused
	second := f.second(r.ConsumedUnit)
	if !unused && (second == 0 || !r.ConsumedQuantity.Known || r.ConsumedQuantity.Sign() <= 0) {
		if f.noHours++; f.firstUnit == "" {
			f.firstUnit = cmp.Or(r.ConsumedUnit, "null")
		}
		return nil
	}
	if f.rep.Paid, err = f.rep.Paid.Add(r.EffectiveCost.Amount); err != nil {
		return err
	}
	if unused {
		f.unused++
		return nil
	}
	price, err := f.price(s, r)
	if err != nil {
		return err
	}
	l := UseLine{
		Start: r.ChargePeriodStart, Seconds: capcli.Seconds(r.ChargePeriodEnd - r.ChargePeriodStart), Price: price,
		SKU: f.sku(r), Account: cmp.Or(r.SubAccountID, r.BillingAccountID), Tenant: f.tenant(r),
	}
	if l.Seconds > capcli.Hour {
		f.coarse++
	}
	if r.PricingCategory == focusDynamic {
		l.Kind = UseSpot
		if l.Spot, err = f.unitRate(s, r.EffectiveCost.Amount, r); err != nil {
			return err
		}
		l.Spot = min(l.Spot, l.Price)
	}
	return f.put(s, l, r.ConsumedQuantity.Amount, second)
}

// secondsIn is how long a unit of time is, 0 for what is none.
func secondsIn(unit string) uint64 {
	u := strings.ToLower(unit)
	words := strings.FieldsFunc(u, func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '/' })
	for _, w := range words {
		switch w {
		case "gb", "gib", "mb", "mib", "tb", "tib", "requests", "request", "normalized":
			return 0 // gigabyte-hours are no time of an instance
		}
	}
	if len(words) == 0 {
		return 0
	}
	switch words[len(words)-1] {
	case "hour", "hours", "hrs", "hr", "h":
		return 3600
	case "minute", "minutes", "min", "mins":
		return 60
	case "second", "seconds", "sec", "secs", "s":
		return 1
	}
	return 0
}

// put adds use of so many units of time to the record: equal units over the
// period, and the rest that does not divide in a stretch of its own.
func (f *focusUse) put(s *sheet, l UseLine, quantity Amount, second uint64) error {
	// In thousandths of a unit-second: quantity x seconds x 1000.
	h1, l1 := bits.Mul64(quantity.lo, second*1000)
	h2, h3 := bits.Mul64(uint64(quantity.hi), second*1000)
	hi, carry := bits.Add64(h1, h3, 0)
	if h2 > 0 || carry > 0 || hi >= amountUnit/2 {
		return s.fault("ConsumedQuantity", fmt.Sprintf("%s %s are more than can be counted", quantity, "units of time"), "")
	}
	total, rest := bits.Div64(hi, l1, amountUnit)
	if rest != 0 {
		f.rounded++
		if rest >= amountUnit/2 {
			total++
		}
	}
	if total > maxUseUnits*1000*uint64(l.Seconds) {
		return s.fault("ConsumedQuantity", fmt.Sprintf("%s in a charge period of %s is more than a billion units at once", quantity, l.Seconds), "")
	}
	whole, left := total/uint64(l.Seconds), total%uint64(l.Seconds)
	for _, part := range []struct{ units, seconds uint64 }{{whole, uint64(l.Seconds)}, {min(left, 1), left}} {
		if part.units == 0 || part.seconds == 0 {
			continue
		}
		l.Units, l.Seconds = int64(part.units), capcli.Seconds(part.seconds)
		if f.rec.Lines = append(f.rec.Lines, l); len(f.rec.Lines) > maxUseLines {
			return s.fault("", fmt.Sprintf("over %d lines of use", maxUseLines), "price it in parts")
		}
	}
	return nil
}

// price is the public on-demand price of a unit-hour.
func (f *focusUse) price(s *sheet, r *FOCUS) (capcli.Rate, error) {
	switch {
	case r.ListUnitPrice.Known && r.ListUnitPrice.Sign() > 0 && f.second(cmp.Or(r.PricingUnit, r.ConsumedUnit)) == 3600:
		return f.rate(s, "ListUnitPrice", r.ListUnitPrice.Amount)
	case r.ListCost.Known && r.ListCost.Sign() > 0:
		return f.unitRate(s, r.ListCost.Amount, r)
	case f.o.Price > 0:
		return f.o.Price, nil
	case r.PricingCategory != focusCommitted && r.EffectiveCost.Sign() > 0:
		f.unlisted++
		return f.unitRate(s, r.EffectiveCost.Amount, r)
	}
	return 0, s.fault("ListCost", "expected the list price of this use, found nothing", "give one for all lines with --on-demand")
}

// unitRate is a cost for a unit-hour of the row's quantity.
func (f *focusUse) unitRate(s *sheet, cost Amount, r *FOCUS) (capcli.Rate, error) {
	hours := r.ConsumedQuantity.Float() * float64(secondsIn(r.ConsumedUnit)) / 3600
	a, _, err := parseAmount(fmt.Sprintf("%.9f", cost.Float()/hours))
	if err != nil {
		return 0, s.fault("ConsumedQuantity", fmt.Sprintf("a cost of %s for %s %s gives no price", cost, r.ConsumedQuantity, r.ConsumedUnit), "")
	}
	return f.rate(s, "ListCost", a)
}

func (f *focusUse) rate(s *sheet, field string, a Amount) (capcli.Rate, error) {
	u, err := a.USD()
	if err != nil || u < 0 {
		return 0, s.fault(field, fmt.Sprintf("%s is no price", a), "")
	}
	if AmountOf(u) != a {
		f.rounded++
	}
	return u, nil
}

// sku is what was used.
func (f *focusUse) sku(r *FOCUS) SKU {
	d, known := f.details[r.SkuPriceDetails]
	if !known && r.SkuPriceDetails != "" {
		_ = json.Unmarshal([]byte(r.SkuPriceDetails), &d) // free text there is allowed, and says nothing
		if len(f.details) < mostTexts {
			f.details[r.SkuPriceDetails] = d
		}
	}
	k := SKU{
		Provider: providerOf(r.ProviderName), Region: r.RegionID, Zone: r.AvailabilityZone, Service: r.ServiceName,
		GPUModel: d.GpuModel, OS: strings.ToLower(d.OperatingSystem),
	}
	sku := r.SkuID
	if sku == k.GPUModel || sku == k.Service || sku == "compute" { // as capcli names what has no instance type
		sku = ""
	}
	k.Family, k.Size = CutInstanceType(cmp.Or(d.InstanceType, d.InstanceSeries, sku))
	return k
}

// providerOf is the short name of the three large providers.
func providerOf(name string) string {
	switch u := strings.ToLower(name); {
	case strings.Contains(u, "amazon"), strings.Contains(u, "aws"):
		return "aws"
	case strings.Contains(u, "microsoft"), strings.Contains(u, "azure"):
		return "azure"
	case strings.Contains(u, "google"), u == "gcp":
		return "gcp"
	case u == focusSelf:
		return ""
	}
	return name
}

// tenant is who used it: by tag, else by account.
func (f *focusUse) tenant(r *FOCUS) string {
	return cmp.Or(f.tag(r.Tags), r.SubAccountName, r.SubAccountID, r.BillingAccountName, r.BillingAccountID)
}

// tag is the value of the tag that names tenants, "" where there is none.
func (f *focusUse) tag(tags string) string {
	if name, known := f.tagged[tags]; known || tags == "" {
		return name
	}
	keys := []string{"tenant", "team", "project"}
	if f.o.Tag != "" {
		keys = []string{f.o.Tag}
	}
	name := ""
	var m map[string]any
	if json.Unmarshal([]byte(tags), &m) == nil {
		if at := slices.IndexFunc(keys, func(k string) bool { return m[k] != nil }); at >= 0 {
			name = fmt.Sprint(m[keys[at]])
		}
	}
	if len(f.tagged) < mostTexts {
		f.tagged[tags] = name
	}
	return name
}

// second is secondsIn, remembered.
func (f *focusUse) second(unit string) uint64 {
	s, known := f.units[unit]
	if !known {
		if s = secondsIn(unit); len(f.units) < mostTexts {
			f.units[unit] = s
		}
	}
	return s
}
