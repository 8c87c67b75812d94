package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
)

// bought is a commitment being read.
type bought struct {
	commitment billing.Commitment
	leave      capcli.Time // when it is ended by its escape; NoTime is never
	product    string
	form       *billing.Form
	until      capcli.Time
	term       string
	sku        billing.SKU // the use it covers
	account    string
	instance   string
	payment    string
	price      Price
	monthly    capcli.USD
	upfront    capcli.USD
	hourly     capcli.USD
	deal       deal
}

// productNames returns the names of all products and their aliases, sorted.
func productNames() []string {
	products, aliases := billing.Named()
	names := slices.AppendSeq(slices.Collect(maps.Keys(products)), maps.Keys(aliases))
	slices.Sort(names)
	return names
}

// newBought returns the commitment that n describes, with the options of its product to be read.
func newBought(n *yaml.Node) *bought {
	c := &bought{form: &billing.Form{}, until: capcli.NoTime, leave: capcli.NoTime, commitment: billing.Commitment{Start: capcli.NoTime}}
	if named := strict.Child(n, "product"); named != nil {
		products, aliases := billing.Named()
		if p := products[cmp.Or(aliases[named.Value], named.Value)]; p != nil {
			c.form = p.Form()
		}
	}
	return c
}

func (c *bought) fields() []strict.Field {
	k := &c.commitment
	list := []strict.Field{
		{"id", "what bills call it; default: its product", strict.Name(&k.ID)},
		{"product", strings.Join(productNames(), ", "), productOf(&c.product)},
		{"from", "first day of the term", instantOf(&k.Start)},
		{"until", "last day of the term, or term", lastDay(&c.until)},
		{"term", "its length, 1y, 3y, 6mo or 45d, or until", term(&c.term)},
		{"owner", "account that bought it: its use comes first", strict.Name(&k.Owner)},
		{"account", "covers use of this account only; default: all share it", strict.Name(&c.account)},
		{"currency", "default: that of the portfolio", currency(&k.Currency)},
		{"price", "of a unit for an hour, with what is paid up front spread over the term", price(&c.price)},
		{"payment", "of price or commit: none, partial (half) or all is paid up front; default: none", strict.Choice(&c.payment, "payment", "none", "partial", "all")},
		{"upfront", "in place of price: paid at the start, for all units together", money(&c.upfront)},
		{"hourly", "in place of price: paid each hour, for all units together", money(&c.hourly)},
		{"monthly", "in place of price: paid at the start of each month of the term, for all units together", money(&c.monthly)},
		{"escape", "it is left before its end: {leave: 2027-04-01, every: 90d, refund: 100%, fee: 0, limit: 50k}", escape(&k.Escape, &c.leave)},
	}
	list = append(list, c.options()...)
	list = append(list, c.deal.fields()...)
	return append(list, skuFields(&c.sku, &c.instance)...)
}

// options returns the fields of all products. Those of the commitment's own are read into its form.
func (c *bought) options() (list []strict.Field) {
	own, seen := map[string]any{}, map[string]bool{}
	for _, o := range c.form.Options {
		own[o.Name] = o.Into
	}
	products, _ := billing.Named()
	for _, name := range slices.Sorted(maps.Keys(products)) {
		for _, o := range products[name].Form().Options {
			if seen[o.Name] {
				continue
			}
			seen[o.Name] = true
			into := o.Into
			if mine := own[o.Name]; mine != nil {
				into = mine
			}
			list = append(list, strict.Field{Name: o.Name, Doc: o.Doc, Read: optionReader(o.Name, into)})
			if o.Name == "units" {
				list = append(list, strict.Field{Name: "gpus", Doc: "the same as units", Read: optionReader(o.Name, into)})
			}
		}
	}
	return list
}

// optionReader reads an option of a product.
func optionReader(name string, into any) strict.Reader {
	switch to := into.(type) {
	case *billing.Units:
		return thousandths((*int64)(to))
	case *string:
		return strict.Name(to)
	case *bool:
		return strict.Bool(to)
	case *capcli.Seconds:
		return strict.Duration(to, 0)
	case *billing.Rates:
		return planRates((*[]billing.PlanRate)(to))
	case *[]billing.SizeRatio:
		return sizeSection.List(to, maxList, name)
	case **billing.Machine:
		return machineSection.Pointer(to)
	case billing.Amount:
		return money(to.To)
	case billing.Choice:
		return strict.Choice(to.To, name, to.Of...)
	case billing.UnitPrice:
		return func(d *strict.Decoder, n *yaml.Node) {
			var p Price
			price(&p)(d, n)
			*to.To = p.Rate
		}
	}
	panic(fmt.Sprintf("scenarios: the option %s of a product is a %T", name, into))
}

// productOf reads the name or an alias of a product.
func productOf(dst *string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var s string
		if strict.Choice(&s, "product", productNames()...)(d, n); s != "" {
			_, aliases := billing.Named()
			*dst = cmp.Or(aliases[s], s)
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
	if c.form.Term != "" && c.term != "" && !slices.ContainsFunc(c.form.Terms, func(t string) bool { return nominal(t) == nominal(c.term) }) {
		o.Fault("term", "%s", c.form.Term)
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
	own := c.form.OwnFields()
	for _, f := range c.options() {
		asks := f.Name
		if asks == "gpus" {
			asks = "units"
		}
		if o.Has(f.Name) && !slices.Contains(own, asks) {
			o.FaultName(f.Name, "%s is no field of %s; it has %s", f.Name, c.product, strings.Join(own, ", "))
		}
	}
	for _, x := range c.form.Options {
		if x.Needed && (x.Name != "units" || !o.Has("gpus")) {
			o.Require(x.Name)
		}
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
	case c.form.Unpaid != "":
		at := c.form.Options[0].Name
		if c.form.Price != nil {
			o.Require("price")
			at, ways = "price", ways-1
		}
		if ways > 0 || o.Has("payment") {
			o.Fault(at, "%s", c.form.Unpaid)
		}
	case c.form.Commit != nil:
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
	if c.payment == "" && c.form.Block {
		c.payment = "all"
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
	if c.form.Price != nil {
		*c.form.Price = c.price.Rate
	}
	c.commitment.Product = c.form.Product()
	return true
}

// machine returns what a unit costs to own; nil where fees say it.
func (c *bought) machine() *billing.Machine {
	if c.form.Ownership == nil {
		return nil
	}
	return c.form.Ownership.Machine
}

// fees returns the fees that the file states, else those that price or commit come to over the
// term.
func (c *bought) fees() (billing.Fees, error) {
	k := &c.commitment
	f := billing.Fees{Upfront: c.upfront, Hourly: c.hourly, Monthly: c.monthly}
	if c.form.Ownership != nil {
		f.Residual = c.form.Ownership.Residual
	}
	var hourly capcli.USD
	switch {
	case c.form.Unpaid != "":
		return billing.Fees{}, nil
	case c.machine() != nil:
		return c.machine().Fees(int64(*c.form.Units))
	case c.form.Commit != nil:
		if hourly = *c.form.Commit; f.Upfront > 0 || f.Hourly > 0 || f.Monthly > 0 {
			return f, nil
		}
	case c.price.Known:
		hi, lo := bits.Mul64(uint64(c.price.Rate), uint64(*c.form.Units))
		if hi > 0 || lo > 1<<62 {
			return f, capcli.ErrOverflow
		}
		hourly = capcli.USD((lo + 500) / 1000)
	default:
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
