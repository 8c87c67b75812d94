package scenarios

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// Places is what lies between the places of capacity: prices and times of moving data.
type Places struct {
	Egress    []billing.TransferPrice
	Bandwidth []simulate.Link // in MiB a second
	Latency   []simulate.Link // in milliseconds
	Copies    []simulate.Keep
	Storage   capcli.Rate // of a GiB of copies for a month
	Own       bool        // no public prices: what is not stated is free
}

// publicEgress are list prices of data that leaves a region, for a GB of the first volume, without free
// amounts and discounts: June 2026. Between regions of Google Cloud and of Azure prices go by distance;
// these are those between North America and Europe. Sources: aws.amazon.com/ec2/pricing/on-demand (data
// transfer), azure.microsoft.com/pricing/details/bandwidth, cloud.google.com/vpc/network-pricing.
var publicEgress = []billing.TransferPrice{
	{From: "aws", To: "aws", GiB: 20_000},
	{From: "azure", To: "azure", GiB: 50_000},
	{From: "gcp", To: "gcp", GiB: 50_000},
	{From: "aws", GiB: 90_000},
	{From: "azure", GiB: 87_000},
	{From: "gcp", GiB: 120_000},
}

const maxGiB = 1e12 // of data

var placesSection = strict.Section[Places]{Name: "places", Fields: func(p *Places) []strict.Field {
	return []strict.Field{
		{"egress", "dollars for a GB that is moved to another region: 0.02, or a list of {from, to, price}; default: public prices of aws, azure and gcp (June 2026), others free", readEgress(&p.Egress)},
		{"bandwidth", "Gbit/s between regions: 10, or a list of {from, to, gbps}; default: data moves in no time", readLinks(&p.Bandwidth, bandwidthSection)},
		{"latency", "milliseconds between regions: 80, or a list of {from, to, ms}; default: not known", readLinks(&p.Latency, latencySection)},
		{"copies", "room for copies of named data sets, which stay for later jobs: [{place: aws/us-east-1, gib: 50000}]", copiesSection.List(&p.Copies, maxList, "places with copies")},
		{"storage", "dollars for a GB of copies for a month", money(&p.Storage)},
		{"public", "false to count data for which no price is stated as free", readNot(&p.Own)},
	}
}}

// readNot reads a switch that is on by default, and stores its contrary.
func readNot(dst *bool) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		on := true
		strict.Bool(&on)(d, n)
		*dst = !on
	}
}

var egressSection = strict.Section[billing.TransferPrice]{Name: "places.egress", Needs: []string{"price"}, Fields: func(t *billing.TransferPrice) []strict.Field {
	return []strict.Field{
		{"from", "place that it leaves, provider/region or a part of it; default: any", place(&t.From)},
		{"to", "place to which it goes; default: any other", place(&t.To)},
		{"price", "dollars for a GB", money(&t.GiB)},
	}
}}

// readEgress reads one price for all, or a list.
func readEgress(dst *[]billing.TransferPrice) strict.Reader {
	list := egressSection.List(dst, maxList, "prices")
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			list(d, n)
			return
		}
		var t billing.TransferPrice
		money(&t.GiB)(d, n)
		*dst = []billing.TransferPrice{t}
	}
}

// linkFields are the fields of a link, whose figure is read by value.
func linkFields(l *simulate.Link, name, doc string, value func(*int64) strict.Reader) []strict.Field {
	return []strict.Field{
		{"from", "place of one end, provider/region or a part of it; default: any", place(&l.From)},
		{"to", "place of the other end; default: any", place(&l.To)},
		{name, doc, value(&l.Value)},
	}
}

// gbps reads Gbit/s and stores MiB/s, at least 1.
func gbps(dst *int64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		v := math.NaN()
		if strict.Number(&v, 0.001, 1e6)(d, n); v > 0 {
			*dst = max(1, int64(math.Round(v*1e9/8/(1<<20))))
		}
	}
}

func millis(dst *int64) strict.Reader { return strict.Integer(dst, 1, 100_000) }

var bandwidthSection = strict.Section[simulate.Link]{Name: "places.bandwidth", Needs: []string{"gbps"}, Fields: func(l *simulate.Link) []strict.Field {
	return linkFields(l, "gbps", "Gbit/s for the data of one job", gbps)
}}

var latencySection = strict.Section[simulate.Link]{Name: "places.latency", Needs: []string{"ms"}, Fields: func(l *simulate.Link) []strict.Field {
	return linkFields(l, "ms", "milliseconds, as within of the data counts them", millis)
}}

// readLinks reads one figure for all places, or a list.
func readLinks(dst *[]simulate.Link, section strict.Section[simulate.Link]) strict.Reader {
	list := section.List(dst, maxList, "links")
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			list(d, n)
			return
		}
		var l simulate.Link
		fields := section.Fields(&l)
		fields[len(fields)-1].Read(d, n)
		*dst = []simulate.Link{l}
	}
}

var copiesSection = strict.Section[simulate.Keep]{Name: "places.copies", Needs: []string{"place"}, Fields: func(k *simulate.Keep) []strict.Field {
	return []strict.Field{
		{"place", "where copies stay: provider/region or a part of it", place(&k.Place)},
		{"gib", "room in each region, in GiB; default: without limit", measure(&k.MiB, 1024, 0, maxGiB)},
	}
}}

// place reads provider/region/zone, or the first parts of it. A part may be a pattern.
func place(dst *string) strict.Reader {
	const form = "a place such as aws/us-east-1/a or aws/us-east-1"
	return strict.Value(dst, form, form, func(s string) (string, bool) { return s, isPlace(s) })
}

func isPlace(s string) bool {
	parts := strings.Split(s, "/")
	if len(parts) > 3 {
		return false
	}
	for _, p := range parts {
		if p == "" || len(p) > 100 || strings.ContainsAny(p, " \t\\,") {
			return false
		}
		if _, err := path.Match(p, "x"); err != nil {
			return false
		}
	}
	return true
}

func placeList(dst *[]string) strict.Reader {
	names := strict.Names(dst, "places")
	return func(d *strict.Decoder, n *yaml.Node) {
		names(d, n)
		for _, p := range *dst {
			if !isPlace(p) {
				d.Fault(n, "%s is no place: want provider/region/zone or the first parts of it, such as aws/eu-west-1, aws or */eu-*", capcli.Quoted(p))
			}
		}
	}
}

func poolPlace(dst *simulate.Place) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var text string
		before := d.FaultCount()
		if place(&text)(d, n); d.FaultCount() > before {
			return
		}
		if strings.ContainsAny(text, "*?[") {
			d.Fault(n, "%s is a pattern; a pool is at one place, such as aws/us-east-1/a", capcli.Quoted(text))
			return
		}
		parts := append(strings.Split(text, "/"), "", "")
		*dst = simulate.Place{Provider: parts[0], Region: parts[1], Zone: parts[2]}
	}
}

var dataSection = strict.Section[capcli.Data]{Name: "shapes.data", Fields: func(x *capcli.Data) []strict.Field {
	return []strict.Field{
		{"name", "name of the data set: jobs share copies of it; default: each job has its own data", strict.Name(&x.Name)},
		{"home", "where the data lies: provider/region; default: everywhere", place(&x.Home)},
		{"gib", "GiB that must be moved to run in another region", strict.Number(&x.GiB, 0, maxGiB)},
		{"back_gib", "GiB of results that are moved back when a job has ended", strict.Number(&x.BackGiB, 0, maxGiB)},
		{"only", "places where the jobs may run (residency): [aws/eu-west-1, */eu-*]", placeList(&x.Only)},
		{"not", "places where they may not run", placeList(&x.Not)},
		{"within", "most milliseconds to their users", strict.Integer(&x.Within, 1, 100_000)},
		{"users_at", "place of the users; default: home", place(&x.UsersAt)},
		{"shiftable", "how long their start may be put off by shift:, in place of its most", strict.Duration(&x.Shiftable, 1)},
	}
}, Check: func(o *strict.Object, x *capcli.Data) {
	switch {
	case (x.GiB > 0 || x.BackGiB > 0) && x.Home == "":
		o.FaultMissing("home", "home is missing: where does the data lie that must be moved?")
	case x.Within > 0 && cmp.Or(x.UsersAt, x.Home) == "":
		o.FaultMissing("users_at", "users_at is missing: within is the time to them")
	}
	if strings.ContainsAny(x.Home, "*?[") {
		o.Fault("home", "%s is a pattern; data lies at one place, such as aws/us-east-1", capcli.Quoted(x.Home))
	}
}}

// cheapest is the entry of overflow.order for pools by what they cost a job in all.
const cheapest = "cheapest"

func (s *Scenario) byCost() bool { return slices.Contains(s.Overflow.Order, cheapest) }

// transfers returns the prices of moved data; nil where no pool has a place.
func (s *Scenario) transfers() *billing.Transfers {
	if !s.hasPlaces() {
		return nil
	}
	t := &billing.Transfers{}
	if s.Places != nil {
		t.Links, t.Storage = slices.Clone(s.Places.Egress), s.Places.Storage
	}
	if s.Places == nil || !s.Places.Own {
		t.Links = append(t.Links, publicEgress...)
	}
	return t
}

func (s *Scenario) hasPlaces() bool {
	return slices.ContainsFunc(s.Capacity, func(c Capacity) bool { return c.Place != simulate.Place{} })
}

// placesOf returns what the engine must know of what lies between places.
func (s *Scenario) placesOf() *simulate.Places {
	if s.Places == nil {
		return nil
	}
	return &simulate.Places{MiBps: s.Places.Bandwidth, Millis: s.Places.Latency, Keep: s.Places.Copies}
}

// checkPlaces checks that data and prices between places have pools with places.
func (s *Scenario) checkPlaces(o *strict.Object) {
	s.checkZones(o)
	if s.hasPlaces() {
		return
	}
	const why = "no pool says where it is; give capacity a place, such as place: aws/us-east-1"
	if o.Has("places") {
		o.FaultName("places", why)
	}
	shapes := o.Value("shapes")
	if shapes == nil || shapes.Kind != yaml.SequenceNode {
		return
	}
	for _, n := range shapes.Content {
		for _, name := range []string{"home", "only", "not", "within"} {
			if at := strict.Child(strict.Child(n, "data"), name); at != nil {
				o.Decoder.Fault(at, why)
				return
			}
		}
	}
}

// checkZones checks that the carbon of each pool is known where it goes by place.
func (s *Scenario) checkZones(o *strict.Object) {
	e := s.Energy
	if e == nil || len(e.Zones) == 0 || e.Zone != "" || e.Energy.Intensity.Flat > 0 || !o.IsClean("energy", "capacity") {
		return
	}
	for i := range s.Capacity {
		at := s.Capacity[i].Place.String()
		if at == "" || !slices.ContainsFunc(e.Zones, func(z EnergyZone) bool { return capcli.IsWithin(at, z.Place) }) {
			o.FaultName("energy", "zones has no entry for pool %s at %s; add one, or an intensity for all other places", capcli.Quoted(s.Capacity[i].Name), capcli.Quoted(at))
			return
		}
	}
}

// coster orders pools by what a job costs in them: the price of its GPUs for as long as it is believed to
// run and to wait for its data, and the price of the data that moves there and back. Committed capacity is
// paid for in any case: only the data counts. Prices are those of the start of the run.
type coster struct {
	prices    []capcli.Rate // by pool
	transfers *billing.Transfers
}

// costerOf returns the coster of a run; nil unless pools are ordered by cost.
func (s *Scenario) costerOf(files *files, pools []simulate.Pool) simulate.Coster {
	if !s.byCost() {
		return nil
	}
	c := &coster{transfers: s.transfers()}
	for i, r := range s.rates(files) {
		price := r.At(s.Period.Start).Price
		if pools[i].Terms.Committed() {
			price = 0
		}
		c.prices = append(c.prices, price)
	}
	return c
}

// Cost implements simulate.Coster, in millionths of a dollar. What does not fit is the dearest.
func (c *coster) Cost(l *simulate.Live, p int, t simulate.Transfer) int64 {
	held, err := billing.Cost(c.prices[p], capcli.GPUTime(l.Milli()*int64(l.Believed+t.Time)))
	there, err2 := c.transfers.CostOf(t.From, t.To, t.MiB)
	back, err3 := c.transfers.CostOf(t.To, t.From, t.Back)
	if cmp.Or(err, err2, err3) != nil || held > math.MaxInt64/4 || there > math.MaxInt64/4 || back > math.MaxInt64/4 {
		return math.MaxInt64
	}
	return int64(held + there + back)
}

// placeAssumptions say which public prices of moved data a run may have used.
func (s *Scenario) placeAssumptions() []prices.Assumption {
	if !s.hasPlaces() || s.Places != nil && s.Places.Own {
		return nil
	}
	var data []*capcli.Data
	for i := range s.Shapes {
		if d := s.Shapes[i].Data; d != nil && (d.GiB > 0 || d.BackGiB > 0) {
			data = append(data, d)
		}
	}
	var out []prices.Assumption
	var said []string
	for _, d := range data {
		for i := range s.Capacity {
			a, b := capcli.RegionOf(d.Home), capcli.RegionOf(s.Capacity[i].Place.String())
			if b == "" || a == b {
				continue
			}
			for _, way := range [][2]string{{a, b}, {b, a}} {
				if text := s.assumedEgress(way[0], way[1]); text != "" && !slices.Contains(said, text) {
					said = append(said, text)
					out = append(out, (*prices.Row)(nil).Assume(way[0], "egress", text))
				}
			}
		}
	}
	return out
}

// assumedEgress says at which price data is moved from one region to another where the file states none; ""
// if it does.
func (s *Scenario) assumedEgress(from, to string) string {
	if s.Places != nil {
		if _, stated := (&billing.Transfers{Links: s.Places.Egress}).PriceOf(from, to); stated {
			return ""
		}
	}
	if p, public := (&billing.Transfers{Links: publicEgress}).PriceOf(from, to); public {
		return fmt.Sprintf("data from %s to %s: $%s a GB, the public price of June 2026", from, to, p.Decimal())
	}
	return fmt.Sprintf("no price is known for data from %s to %s: it is counted as free", from, to)
}
