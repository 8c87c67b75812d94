package scenarios

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/billing"
)

// bought is a commitment being read.
type bought struct {
	commitment billing.Commitment
	leave      capcli.Time // when it is ended by its escape; NoTime is never
	product    string
	until      capcli.Time
	term       string
	sku        billing.SKU // the use it covers
	account    string
	instance   string
	units      billing.Units // in thousandths
	payment    string
	price      Price
	monthly    capcli.USD
	upfront    capcli.USD
	residual   capcli.USD
	hourly     capcli.USD
	commit     capcli.USD
	rates      []billing.PlanRate
	reserved   string
	early      capcli.Seconds
	rule       string
	contracted Price
	targeted   bool
	least      capcli.Seconds
	windDown   capcli.USD
	machine    *billing.Machine
	sizes      []billing.SizeRatio
	flexible   bool
	minimum    capcli.USD
	every      string
	deal       deal
}

// productAlias maps other names of products to their names.
var productAlias = map[string]string{
	"ri": "reserved_instance", "cud": "committed_use", "flexible_cud": "flexible_use", "odcr": "capacity_reservation",
	"reserved": "reserved_capacity", "compute_savings_plan": "savings_plan", "take_or_pay": "minimum_spend",
}

// products has, for each product, its own fields and the function that makes it from a bought.
var products = map[string]struct {
	fields  []string
	product func(c *bought) billing.Product
}{
	"reserved_instance": {[]string{"units"}, func(c *bought) billing.Product { return billing.ReservedInstance{Units: c.units} }},
	"savings_plan":      {[]string{"commit", "rates"}, func(c *bought) billing.Product { return billing.SavingsPlan{Commit: c.commit, Rates: c.rates} }},
	"instance_savings_plan": {[]string{"commit", "rates"}, func(c *bought) billing.Product {
		return billing.SavingsPlan{Commit: c.commit, Instance: true, Rates: c.rates}
	}},
	"committed_use": {[]string{"units", "reservation"}, func(c *bought) billing.Product {
		return billing.CommittedUse{Units: c.units, Reservation: c.reserved}
	}},
	"flexible_use": {[]string{"commit", "rates"}, func(c *bought) billing.Product { return billing.FlexibleUse{Commit: c.commit, Rates: c.rates} }},
	"azure_reservation": {[]string{"units", "sizes", "size_flexibility"}, func(c *bought) billing.Product {
		return billing.AzureReservation{Units: c.units, Sizes: c.sizes, Rigid: !c.flexible}
	}},
	"azure_savings_plan": {[]string{"commit", "rates"}, func(c *bought) billing.Product { return billing.AzurePlan{Commit: c.commit, Rates: c.rates} }},
	"capacity_block": {[]string{"units", "ends_early", "rule"}, func(c *bought) billing.Product {
		rule := map[string]billing.BlockRule{"": billing.BlockAWS, "aws": billing.BlockAWS, "calendar": billing.BlockCalendar, "any": billing.BlockAny}
		return billing.CapacityBlock{Units: c.units, EndsEarly: c.early, Rule: rule[c.rule]}
	}},
	"capacity_reservation": {[]string{"units", "contracted_price", "targeted", "committed", "wind_down"}, func(c *bought) billing.Product {
		return billing.CapacityReservation{
			Units: c.units, Price: c.price.Rate, Contracted: c.contracted.Rate, Targeted: c.targeted, Committed: c.least, WindDown: c.windDown,
		}
	}},
	"reserved_capacity": {[]string{"units"}, func(c *bought) billing.Product { return billing.ReservedCapacity{Units: c.units} }},
	"minimum_spend": {[]string{"minimum", "every", "rates"}, func(c *bought) billing.Product {
		months := map[string]int64{"month": 1, "quarter": 3, "year": 12}
		return billing.MinimumSpend{Minimum: c.minimum, Every: months[c.every], Rates: c.rates}
	}},
	"owned": {[]string{"units", "residual", "machine"}, func(c *bought) billing.Product { return billing.Owned{Units: c.units} }},
}

// productNames returns the names of all products and their aliases, sorted.
func productNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(products)), maps.Keys(productAlias))
	slices.Sort(names)
	return names
}

func newBought() *bought {
	return &bought{flexible: true, until: capcli.NoTime, leave: capcli.NoTime, commitment: billing.Commitment{Start: capcli.NoTime}}
}

// spend reports whether the product commits to dollars an hour.
func (c *bought) spend() bool { return slices.Contains(products[c.product].fields, "commit") }

func (c *bought) fields() []strict.Field {
	k := &c.commitment
	list := []strict.Field{
		{"id", "what bills call it; default: its product", strict.Name(&k.ID)},
		{"product", strings.Join(productNames(), ", "), productOf(&c.product)},
		{"from", "first day of the term", instantOf(&k.Start)},
		{"until", "last day of the term, or term", lastDay(&c.until)},
		{"term", "its length, 1y, 3y, 6mo or 45d, or until", term(&c.term)},
		{"units", "instances or GPUs, up to three decimals", thousandths((*int64)(&c.units))},
		{"gpus", "the same as units", thousandths((*int64)(&c.units))},
		{"owner", "account that bought it: its use comes first", strict.Name(&k.Owner)},
		{"account", "covers use of this account only; default: all share it", strict.Name(&c.account)},
		{"currency", "default: that of the portfolio", currency(&k.Currency)},
		{"price", "of a unit for an hour, with what is paid up front spread over the term", price(&c.price)},
		{"payment", "of price or commit: none, partial (half) or all is paid up front; default: none", strict.Choice(&c.payment, "payment", "none", "partial", "all")},
		{"upfront", "in place of price: paid at the start, for all units together", money(&c.upfront)},
		{"hourly", "in place of price: paid each hour, for all units together", money(&c.hourly)},
		{"monthly", "in place of price: paid at the start of each month of the term, for all units together", money(&c.monthly)},
		{"residual", "owned: what comes back at the end", money(&c.residual)},
		{"commit", "plans: dollars of use at plan rates, an hour", money(&c.commit)},
		{"rates", "plans: [{instance_type: m5.large, rate: 0.061}, {discount: 28%}], the first that fits counts", planRates(&c.rates)},
		{"reservation", "committed_use: the reservation attached to it; GPUs want one", strict.Name(&c.reserved)},
		{"ends_early", "capacity_block: use ends this long before the block; default: 30m", strict.Duration(&c.early, 0)},
		{"rule", "capacity_block: lengths that are sold: aws, calendar (Google) or any", strict.Choice(&c.rule, "rule", "aws", "calendar", "any")},
		{"contracted_price", "capacity_reservation: negotiated on-demand price", price(&c.contracted)},
		{"targeted", "capacity_reservation: only use that names it runs in it", strict.Bool(&c.targeted)},
		{"committed", "capacity_reservation: if cancelled before this time, it costs wind_down", strict.Duration(&c.least, 0)},
		{"wind_down", "capacity_reservation: that charge", money(&c.windDown)},
		{"sizes", "azure_reservation: its flexibility group by the reservation catalogue: [{size: Standard_NC24ads_A100_v4, ratio: 1}, {size: Standard_NC48ads_A100_v4, ratio: 2}]", sizeSection.List(&c.sizes, maxList, "sizes")},
		{"size_flexibility", "azure_reservation: false covers its own size only", strict.Bool(&c.flexible)},
		{"minimum", "minimum_spend: what is paid at least in each period", money(&c.minimum)},
		{"every", "minimum_spend: the period, month, quarter, year or term; default: term", strict.Choice(&c.every, "every", "month", "quarter", "year", "term")},
		{"machine", "owned: what one unit costs: {capital: 250k, residual: 40k, watts: 10200, pue: 1.3, price_kwh: 0.11, space: 0.40}", machineSection.Pointer(&c.machine)},
		{"escape", "it is left before its end: {leave: 2027-04-01, every: 90d, refund: 100%, fee: 0, limit: 50k}", escape(&k.Escape, &c.leave)},
	}
	list = append(list, c.deal.fields()...)
	return append(list, skuFields(&c.sku, &c.instance)...)
}

// productOf reads the name or an alias of a product.
func productOf(dst *string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var s string
		if strict.Choice(&s, "product", productNames()...)(d, n); s != "" {
			*dst = s
			if long := productAlias[s]; long != "" {
				*dst = long
			}
		}
	}
}

// thousandths reads a number above 0 with at most three decimals and stores thousandths.
func thousandths(dst *int64) strict.Reader {
	form := fmt.Sprintf("a number of units above 0 and at most %d, with at most three decimals", maxGPUs)
	return strict.Value(dst, "a number of units", form, func(s string) (int64, bool) {
		u, err := capcli.ParseUSD(s) // ParseUSD reads a decimal in millionths
		return int64(u / 1000), err == nil && u > 0 && u%1000 == 0 && u <= maxGPUs*capcli.Dollar
	})
}

// rateText is the rate of a plan being read.
type rateText struct {
	billing.PlanRate
	sku      billing.SKU
	instance string
	price    Price
}

var rateSection = strict.Section[rateText]{Name: "rates", Fields: func(r *rateText) []strict.Field {
	return append(skuFields(&r.sku, &r.instance), strict.Field{"rate", "of a unit for an hour under the plan", price(&r.price)},
		strict.Field{"discount", "from the on-demand price: 28%", share(&r.Discount)})
}, Check: func(o *strict.Object, r *rateText) {
	switch {
	case o.Has("rate") == o.Has("discount"):
		o.FaultMissing("rate", "give a rate or a discount, one of the two")
	case r.price.Known && r.price.Rate == 0:
		o.Fault("rate", "rate is 0, at which any plan would cover all use; give what the plan charges")
	}
	r.Scope, r.Rate = scopeOf(r.sku, r.instance), r.price.Rate
}}

// planRates reads the rates of a plan.
func planRates(dst *[]billing.PlanRate) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var rates []rateText
		rateSection.List(&rates, maxList, "rates")(d, n)
		for _, r := range rates {
			*dst = append(*dst, r.PlanRate)
		}
	}
}

var sizeSection = strict.Section[billing.SizeRatio]{Name: "sizes", Needs: []string{"size", "ratio"}, Fields: func(s *billing.SizeRatio) []strict.Field {
	return []strict.Field{
		{"size", "Standard_NC24ads_A100_v4", strict.Name(&s.Size)},
		{"ratio", "its footprint beside the other sizes", strict.Integer(&s.Ratio, 1, 20_000)},
	}
}}

// scopeOf returns the scope that covers the described use.
func scopeOf(s billing.SKU, instance string) billing.Scope {
	if instance != "" {
		s.Family, s.Size = billing.CutInstanceType(instance)
	}
	return billing.Scope{
		Provider: s.Provider, Region: s.Region, Zone: s.Zone, Family: s.Family, Size: s.Size, GPUModel: s.GPUModel, Service: s.Service, OS: s.OS,
	}
}

var machineSection = strict.Section[billing.Machine]{Name: "machine", Fields: func(m *billing.Machine) []strict.Field {
	return []strict.Field{
		{"capital", "what one unit costs to buy", money(&m.Capital)},
		{"residual", "and is worth at the end", money(&m.Residual)},
		{"watts", "drawn, used or not", strict.Integer(&m.Watts, 0, 10_000_000)},
		{"pue", "power of the building for each watt of the machine; default: 1", measure(&m.PUE, 1000, 1, 10)},
		{"price_kwh", "dollars for a kilowatt-hour", money(&m.Energy)},
		{"space", "rent, staff and network, dollars an hour", money(&m.Space)},
	}
}}

func escape(dst *billing.Escape, leave *capcli.Time) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		refund := int64(1_000_000)
		o := d.ReadObject(n, "escape", []strict.Field{
			{"leave", "the day on which it is left, a whole number of every after its start", instantOf(leave)},
			{"every", "it may be left at multiples of this time after its start", strict.Duration(&dst.Every, capcli.Day)},
			{"refund", "share of the unexpired value that comes back; default: all", share(&refund)},
			{"fee", "flat, for leaving", money(&dst.Fee)},
			{"limit", "most that comes back to an owner in any 12 months", money(&dst.Limit)},
		})
		o.Require("every")
		if o != nil && !o.Has("leave") {
			o.FaultMissing("leave", "leave is missing: an escape that is not used changes no bill; give the day on which it is left, or take escape out")
		}
		dst.Refund = refund / 1000
	}
}

// check checks the fields of a commitment together.
func (c *bought) check(o *strict.Object) {
	o.Require("product", "from")
	switch {
	case !o.Has("term") && !o.Has("until"):
		o.FaultMissing("term", "term is missing: how long it lasts, such as 1y; or until, its last day")
	case o.Has("term") && o.Has("until"):
		o.FaultName("until", "term and until both say when it ends; leave one out")
	}
	if (c.product == "committed_use" || c.product == "flexible_use") && o.Has("term") && c.term != "" && nominal(c.term) != nominal("1y") && nominal(c.term) != nominal("3y") {
		o.Fault("term", "committed use is for 1y or 3y; a part of a term is said with until")
	}
	if o.Has("units") && o.Has("gpus") {
		o.FaultName("gpus", "units and gpus are the same; leave one out")
	}
	if o.Has("instance_type") && (o.Has("family") || o.Has("size")) {
		o.FaultName("instance_type", "instance_type says family and size; leave these out")
	}
	if c.product == "" {
		return
	}
	own := products[c.product].fields
	for _, f := range []string{"units", "gpus", "commit", "rates", "reservation", "ends_early", "rule", "contracted_price", "targeted", "committed", "wind_down", "residual", "machine", "sizes", "size_flexibility", "minimum", "every"} {
		asks := f
		if f == "gpus" {
			asks = "units"
		}
		if o.Has(f) && !slices.Contains(own, asks) {
			o.FaultName(f, "%s is no field of %s; it has %s", f, c.product, strings.Join(own, ", "))
		}
	}
	switch {
	case c.product == "minimum_spend":
		o.Require("minimum", "rates")
	case c.spend():
		o.Require("commit", "rates")
	case !o.Has("gpus"):
		o.Require("units")
	}
	c.checkFees(o)
}

// checkFees checks that the cost is given in one way only.
func (c *bought) checkFees(o *strict.Object) {
	ways := 0
	for _, given := range []bool{o.Has("price"), o.Has("machine"), o.Has("upfront") || o.Has("hourly") || o.Has("monthly")} {
		if given {
			ways++
		}
	}
	switch {
	case c.product == "minimum_spend":
		if ways > 0 || o.Has("payment") {
			o.Fault("minimum", "a minimum spend is paid as it is used, at its rates; leave price, payment, upfront, hourly and monthly out")
		}
	case c.product == "capacity_reservation":
		o.Require("price")
		if ways > 1 || o.Has("payment") {
			o.Fault("price", "a capacity reservation costs the on-demand price; leave upfront, hourly, monthly and payment out")
		}
	case c.spend():
		if o.Has("price") || ways > 1 {
			o.Fault("price", "a plan costs what it commits to; leave price out, and say with payment what is paid up front")
		}
	case ways == 0:
		o.FaultMissing("price", "price is missing: what a unit costs for an hour; or upfront, hourly and monthly for all together")
	case ways > 1:
		o.Fault("price", "price, machine, and upfront, hourly or monthly all say what it costs; give one of the three")
	}
	if o.Has("payment") && !o.Has("price") && ways > 0 {
		o.FaultName("payment", "payment goes with price or commit; upfront, hourly and monthly say it themselves")
	}
	if o.Has("price") && c.price.Known && c.price.Rate == 0 {
		o.Fault("price", "price is 0; leave a commitment that costs nothing out, or give upfront: 0")
	}
}

// build completes the commitment. It reports false after a fault.
func (c *bought) build(o *strict.Object) bool {
	k := &c.commitment
	k.End = c.until
	if o.Has("term") {
		k.End = addTerm(k.Start, c.term)
	}
	if !k.End.IsKnown() || k.End <= k.Start || capcli.Seconds(k.End-k.Start) > strict.Longest {
		o.Fault("until", "the term ends %s, and began %s: want an end after the start and at most fifty years", k.End, k.Start)
		return false
	}
	k.Scope = scopeOf(c.sku, c.instance)
	k.Scope.Account = c.account
	if c.payment == "" && c.product == "capacity_block" { // a capacity block is always paid whole in advance
		c.payment = "all"
	}
	if c.product == "capacity_block" && !o.Has("ends_early") && (c.rule == "" || c.rule == "aws") {
		c.early = billing.BlockEndsEarly
	}
	return c.priced(o)
}

// priced sets the fees of the commitment over its term, and its product. It reports false after a
// fault.
func (c *bought) priced(o *strict.Object) bool {
	fees, err := c.fees()
	if err != nil {
		o.Fault("price", "what it costs over its term: %v", err)
		return false
	}
	c.commitment.Fees = fees
	c.commitment.Product = products[c.product].product(c)
	return true
}

// fees returns the fees that the file states, else those that price or commit come to over the
// term.
func (c *bought) fees() (billing.Fees, error) {
	k := &c.commitment
	f := billing.Fees{Upfront: c.upfront, Hourly: c.hourly, Monthly: c.monthly, Residual: c.residual}
	hourly := c.commit
	switch {
	case c.product == "capacity_reservation", c.product == "minimum_spend":
		return billing.Fees{}, nil
	case c.machine != nil:
		return c.machine.Fees(int64(c.units))
	case c.spend() && (f.Upfront > 0 || f.Hourly > 0 || f.Monthly > 0):
		return f, nil
	case c.price.Known:
		hi, lo := bits.Mul64(uint64(c.price.Rate), uint64(c.units))
		if hi > 0 || lo > 1<<62 {
			return f, capcli.ErrOverflow
		}
		hourly = capcli.USD((lo + 500) / 1000)
	case !c.spend():
		return f, nil
	}
	switch c.payment {
	case "all":
		return c.ahead(f, hourly, int64(k.End-k.Start))
	case "partial":
		half := hourly / 2
		f, err := c.ahead(f, half, int64(k.End-k.Start))
		f.Hourly = hourly - half
		return f, err
	}
	f.Hourly = hourly
	return f, nil
}

// ahead sets the upfront payment to an hourly price over the given seconds.
func (c *bought) ahead(f billing.Fees, hourly capcli.USD, seconds int64) (billing.Fees, error) {
	hi, lo := bits.Mul64(uint64(hourly), uint64(seconds))
	if hi >= 3600 {
		return f, capcli.ErrOverflow
	}
	q, r := bits.Div64(hi, lo, 3600)
	if q > 1<<62 {
		return f, capcli.ErrOverflow
	}
	if r >= 1800 {
		q++
	}
	f.Upfront = capcli.USD(q)
	return f, nil
}
