package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/focus"
)

// focusUse converts a bill in FOCUS to a record of use.
type focusUse struct {
	o       UseOptions
	rec     *UseRecord
	rep     *UseReport
	details *focus.Memo[focusDetails] // parsed details by SkuPriceDetails
	tags    *focusTags
	seconds *focus.Memo[uint64] // seconds in a unit of time by its name

	notUse, unused, noHours, coarse, unlisted, rounded int64
	firstUnit                                          string
}

// focusDetails are the properties of SkuPriceDetails that FOCUS 1.2 defines and that matter
// here, and the GPU model.
type focusDetails struct {
	InstanceType    string `json:"InstanceType,omitempty"`
	InstanceSeries  string `json:"InstanceSeries,omitempty"`
	OperatingSystem string `json:"OperatingSystem,omitempty"`
	GpuModel        string `json:"x_GpuModel,omitempty"`
}

// parseDetails parses SkuPriceDetails. FOCUS allows free text there, so a text that is not JSON
// yields no details and no error.
func parseDetails(text string) (d focusDetails) {
	_ = json.Unmarshal([]byte(text), &d)
	return d
}

// readFocusUse reads the usage rows of a bill whose quantity is a time, at their list price.
// Use that commitments covered becomes on-demand use, so that another portfolio can be applied
// to it. Unused parts, purchases, taxes and use in other units (requests, gigabytes) are left
// out and counted.
func readFocusUse(s *capcli.Sheet, o UseOptions) (*UseRecord, *UseReport, error) {
	r, err := focus.ReadSheet(s, focus.Options{Spreadsheet: o.Spreadsheet})
	if err != nil {
		return nil, nil, err
	}
	f := &focusUse{o: o, rec: &UseRecord{}, rep: &UseReport{Format: "FOCUS"}, details: focus.NewMemo(parseDetails), seconds: focus.NewMemo(UnitSeconds)}
	f.tags = newFocusTags(o)
	for row, err := range r.Rows() {
		switch {
		case err != nil:
		case o.Rows != nil:
			err = o.Rows(row, f.tags.tagsOf(row))
		default:
			err = f.add(s, row)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	read := r.Report()
	f.rep.Rows, f.rep.Unknown = read.Rows, read.Unknown
	f.rec.Currency = read.Currency
	if len(f.rec.Lines) == 0 && (o.Rows == nil || read.Rows == 0) {
		return nil, nil, s.Fault("", "the bill has no use by the hour: no row of category Usage has a ConsumedUnit such as Hours and a list price",
			"capcli bill check says what is in it")
	}
	if err := f.tags.check(); err != nil {
		return nil, nil, err
	}
	f.rep.Notes = slices.Concat(read.Assumed, f.notes(), f.tags.notes())
	f.rep.conclude(f.rec)
	return f.rec, f.rep, nil
}

// notes returns notes on the rows that were left out or estimated.
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

func (f *focusUse) add(s *capcli.Sheet, r *focus.Row) (err error) {
	if r.ChargeCategory != focus.Usage || r.ChargeClass == "Correction" {
		f.notUse++
		return nil
	}
	unused := r.CommitmentDiscountStatus == focus.Unused || r.CapacityReservationStatus == focus.Unused
	second := f.seconds.Find(r.ConsumedUnit)
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
		SKU: f.sku(r), Account: cmp.Or(r.SubAccountID, r.BillingAccountID), Tenant: f.tags.tenant(r), Tags: f.tags.tagsOf(r),
	}
	if l.Seconds > capcli.Hour {
		f.coarse++
	}
	if r.PricingCategory == focus.Dynamic {
		l.Kind = UseSpot
		if l.Spot, err = f.unitRate(s, r.EffectiveCost.Amount, r); err != nil {
			return err
		}
		l.Spot = min(l.Spot, l.Price)
	}
	return f.put(s, l, r.ConsumedQuantity.Amount, second)
}

// UnitSeconds returns the number of seconds in a unit of time of a bill, such as Hours; 0 for a unit that is no time.
func UnitSeconds(unit string) uint64 {
	u := strings.ToLower(unit)
	words := strings.FieldsFunc(u, func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '/' })
	for _, w := range words {
		switch w {
		case "gb", "gib", "mb", "mib", "tb", "tib", "requests", "request", "normalized":
			return 0 // gigabyte-hours are not the time of an instance
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

// put adds a quantity of units of time to the record: equal units over the whole period, and
// the remainder as a thousandth of a unit for a shorter time.
func (f *focusUse) put(s *capcli.Sheet, l UseLine, quantity focus.Amount, second uint64) error {
	all, err := quantity.Times(focus.NewAmount(1000*second, 0)) // in thousandths of a unit-second
	if err != nil {
		return s.Fault("ConsumedQuantity", fmt.Sprintf("%s units of time are more than can be counted", quantity), "")
	}
	total, exact := all.Rounded()
	if !exact {
		f.rounded++
	}
	if total > maxUseUnits*1000*uint64(l.Seconds) {
		return s.Fault("ConsumedQuantity", fmt.Sprintf("%s in a charge period of %s is more than a billion units at once", quantity, l.Seconds), "")
	}
	whole, left := total/uint64(l.Seconds), total%uint64(l.Seconds)
	for _, part := range []struct{ units, seconds uint64 }{{whole, uint64(l.Seconds)}, {min(left, 1), left}} {
		if part.units == 0 || part.seconds == 0 {
			continue
		}
		l.Units, l.Seconds = int64(part.units), capcli.Seconds(part.seconds)
		if err := f.rec.addLine(s, &l); err != nil {
			return err
		}
	}
	return nil
}

// price returns the public on-demand price of a unit-hour. It is the list price for an hour,
// else the list cost divided by the quantity, else the price of the options, else, for a row
// without a commitment, the effective cost divided by the quantity.
func (f *focusUse) price(s *capcli.Sheet, r *focus.Row) (capcli.Rate, error) {
	switch {
	case r.ListUnitPrice.Known && r.ListUnitPrice.Sign() > 0 && f.seconds.Find(cmp.Or(r.PricingUnit, r.ConsumedUnit)) == 3600:
		return f.rate(s, "ListUnitPrice", r.ListUnitPrice.Amount)
	case r.ListCost.Known && r.ListCost.Sign() > 0:
		return f.unitRate(s, r.ListCost.Amount, r)
	case f.o.Price > 0:
		return f.o.Price, nil
	case r.PricingCategory != focus.Committed && r.EffectiveCost.Sign() > 0:
		f.unlisted++
		return f.unitRate(s, r.EffectiveCost.Amount, r)
	}
	return 0, s.Fault("ListCost", "expected the list price of this use, found nothing", "give one for all lines with --on-demand")
}

// unitRate returns a cost divided by the unit-hours of the row.
func (f *focusUse) unitRate(s *capcli.Sheet, cost focus.Amount, r *focus.Row) (capcli.Rate, error) {
	hours := r.ConsumedQuantity.Float() * float64(f.seconds.Find(r.ConsumedUnit)) / 3600
	a, _, err := focus.ParseAmount(fmt.Sprintf("%.9f", cost.Float()/hours))
	if err != nil {
		return 0, s.Fault("ConsumedQuantity", fmt.Sprintf("a cost of %s for %s %s gives no price", cost, r.ConsumedQuantity, r.ConsumedUnit), "")
	}
	return f.rate(s, "ListCost", a)
}

// rate returns an amount as a price, rounded to the millionth.
func (f *focusUse) rate(s *capcli.Sheet, field string, a focus.Amount) (capcli.Rate, error) {
	u, err := a.USD()
	if err != nil || u < 0 {
		return 0, s.Fault(field, fmt.Sprintf("%s is no price", a), "")
	}
	if focus.AmountOf(u) != a {
		f.rounded++
	}
	return u, nil
}

func (f *focusUse) sku(r *focus.Row) SKU { return skuOf(r, f.details.Find(r.SkuPriceDetails)) }

// FocusSKU returns the SKU of a row of a bill in FOCUS, as far as the row says it.
func FocusSKU(r *focus.Row) SKU { return skuOf(r, parseDetails(r.SkuPriceDetails)) }

func skuOf(r *focus.Row, d focusDetails) SKU {
	k := SKU{
		Provider: providerOf(r.ProviderName), Region: r.RegionID, Zone: r.AvailabilityZone, Service: r.ServiceName,
		GPUModel: d.GpuModel, OS: strings.ToLower(d.OperatingSystem),
	}
	sku := r.SkuID
	if sku == k.GPUModel || sku == k.Service || sku == "compute" { // written by capcli for no instance type
		sku = ""
	}
	k.Family, k.Size = CutInstanceType(cmp.Or(d.InstanceType, d.InstanceSeries, sku))
	return k
}

// providerOf returns the short name of the three large providers, and any other name unchanged.
func providerOf(name string) string {
	switch u := strings.ToLower(name); {
	case strings.Contains(u, "amazon"), strings.Contains(u, "aws"):
		return "aws"
	case strings.Contains(u, "microsoft"), strings.Contains(u, "azure"):
		return "azure"
	case strings.Contains(u, "google"), u == "gcp":
		return "gcp"
	case u == focus.Self:
		return ""
	}
	return name
}
