package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/strict"
)

// portfolioVersion is the version of the file format, in a portfolio's first line: capcli:
// portfolio/v1.
const portfolioVersion = "portfolio/v1"

var portfolioForm = strict.Form{Version: portfolioVersion, What: "a portfolio", Template: "docs/from-a-bill.md"}

// Portfolio is a portfolio file, checked.
type Portfolio struct {
	File       string
	Name       string
	Portfolio  billing.Portfolio
	SpotPrices []billing.SpotPrice // in order of time
	SpotFile   string              // CSV of more spot prices, relative to the portfolio; "" is none
	Budget     *billing.Budget
	Approvals  billing.Approvals
	Energy     *Energy
	Left       []Leave // commitments ended early by their escape, in order of the day

	lines  []int         // line of each commitment in the file
	leaves []capcli.Time // when each commitment is ended by its escape; NoTime is never
}

// Leave is a commitment that is ended early by its escape clause.
type Leave struct {
	ID     string
	End    capcli.Time // end of the term
	Refund billing.Refund
}

// ParsePortfolio reads a portfolio and checks all of it. The error is *strict.Faults,
// with the place of each fault.
func ParsePortfolio(file string, b []byte) (*Portfolio, error) {
	d := &strict.Decoder{Form: &portfolioForm}
	p := &Portfolio{File: file}
	if root := d.ReadTree(b); root != nil {
		readPortfolio(d, root, p)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(cmp.Or(file, "portfolio"), "fields of a portfolio: docs/from-a-bill.md; an unknown field is answered with those of its section")
	}
	return p, nil
}

// readPortfolio reads the whole file.
func readPortfolio(d *strict.Decoder, root *yaml.Node, p *Portfolio) {
	if !d.IsDescribing(root) && (root.Kind != yaml.MappingNode || strict.Child(root, "capcli") == nil && strict.Child(root, "commitments") == nil) {
		d.Fault(root, "this is no portfolio: it begins with capcli: %s and has a list called commitments", portfolioVersion)
		return
	}
	var nodes []*yaml.Node
	o := d.ReadObject(root, "the top level", []strict.Field{
		{"capcli", "the form of this file: " + portfolioVersion, strict.Version},
		{"name", "what the portfolio is called", strict.Name(&p.Name)},
		{"currency", "of every amount; default: USD", currency(&p.Portfolio.Currency)},
		{"commitments", "what is bought", commitments(p, &nodes)},
		{"spot_prices", "steps of spot prices: {instance_type: p5.48xlarge, region: us-east-1, at: 2027-01-01, price: 12.50}", spotPrices(&p.SpotPrices)},
		{"budget", "what may be spent, with alerts: {monthly: 100k, tenants: {research: 40k}}", budget(&p.Budget)},
		{"approvals", "who must sign for how many GPUs: [{below: 10, by: team lead}, {by: board}]", approvals(&p.Approvals)},
		{"energy", "power and its carbon: {watts_held: 700, pue: 1.3, price_kwh: 0.11, intensity: 400}", energySection.Pointer(&p.Energy)},
		{"spot_file", "CSV of more: at,price,instance_type,gpu_model,region,zone", file(&p.SpotFile)},
	})
	o.RequireVersion("file")
	o.RequireWith("commitments", "commitments is missing; give a list, [] for none, or such as - {product: savings_plan, from: 2027-01-01, term: 1y, commit: 10, rates: [{discount: 28%%}]}")
	if d.FaultCount() == 0 {
		checkPortfolio(d, p, nodes)
	}
}

// checkPortfolio checks the commitments with package billing, and reports faults at their places in
// the file.
func checkPortfolio(d *strict.Decoder, p *Portfolio, nodes []*yaml.Node) {
	left := p.Portfolio
	for i := range left.Commitments { // one by one, so that each commitment's fault is reported
		one := left
		one.Commitments = left.Commitments[i : i+1]
		portfolioFault(d, one.Check(), nodes[i:])
	}
	if d.FaultCount() == 0 {
		portfolioFault(d, left.Check(), nodes)
	}
	if d.FaultCount() == 0 {
		playEscapes(d, p, nodes)
	}
}

// playEscapes ends the commitments whose escape is used, in order of the day, as billing.Rebalance
// does. Each then costs the part used up and the part that is not refunded.
func playEscapes(d *strict.Decoder, p *Portfolio, nodes []*yaml.Node) {
	var order []int
	for i, at := range p.leaves {
		if at.IsKnown() {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.leaves[a], p.leaves[b]) })
	var past []billing.Refund
	for _, i := range order {
		c := p.Portfolio.Commitments[i]
		left, refund, err := p.Portfolio.Rebalance(c.ID, p.leaves[i], nil, past)
		if err != nil {
			portfolioFault(d, &billing.PortfolioError{Index: i, Other: -1, Field: "escape", Text: err.Error()}, nodes)
			continue
		}
		past = append(past, refund)
		p.Portfolio = *left
		p.Left = append(p.Left, Leave{ID: c.ID, End: c.End, Refund: refund})
	}
}

func portfolioFault(d *strict.Decoder, err error, nodes []*yaml.Node) {
	var bad *billing.PortfolioError
	switch {
	case err == nil:
	case errors.As(err, &bad) && bad.Index >= 0 && bad.Index < len(nodes):
		n := nodes[bad.Index]
		d.Enter("commitments")
		if v := strict.Child(n, bad.Field); v != nil {
			n = v
		}
		d.Fault(n, "%s", bad.Text)
		d.Leave()
	default:
		d.FaultFile("%v", err)
	}
}

// commitments reads the list of commitments.
func commitments(p *Portfolio, nodes *[]*yaml.Node) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		used := map[string]int{}
		d.ReadList(n, maxCommitments, "commitments", func(_ int, n *yaml.Node) {
			c := newBought(n)
			before := d.FaultCount()
			o := d.ReadObject(n, "commitments", c.fields())
			if o == nil {
				return
			}
			c.check(o)
			if d.FaultCount() > before {
				return
			}
			if c.commitment.ID == "" {
				used[c.product]++
				c.commitment.ID = c.product
				if k := used[c.product]; k > 1 {
					c.commitment.ID += strconv.Itoa(k)
				}
			}
			if !c.build(o) {
				return
			}
			parts, ok := c.deals(o)
			if !ok {
				return
			}
			for _, k := range parts {
				p.Portfolio.Commitments = append(p.Portfolio.Commitments, k)
				p.lines, p.leaves = append(p.lines, n.Line), append(p.leaves, c.leave)
				*nodes = append(*nodes, n)
			}
		})
	}
}

// maxCommitments is the largest number of commitments of a file.
const maxCommitments = 10_000

// currency reads a currency code of three capital letters.
func currency(dst *string) strict.Reader {
	return strict.Value(dst, "a currency such as USD", "a currency in three letters such as USD", func(s string) (string, bool) {
		return s, len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	})
}

// money reads an exact amount: 1.7M, $85k, 1,200.50.
func money(dst *capcli.USD) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "an amount such as 85k")
		if !ok {
			return
		}
		u, err := parseMoney(s)
		if err != nil {
			d.Fault(n, "%s: %v", d.FieldName(), err)
			return
		}
		*dst = u
	}
}

// parseMoney reads an amount of money of at least 0, exact to the millionth.
func parseMoney(s string) (capcli.USD, error) {
	text, times := capcli.CutMagnitude(strings.TrimSpace(strings.TrimSuffix(s, "USD")))
	u, err := capcli.ParseUSD(text)
	switch {
	case strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%s is negative", capcli.Quoted(s))
	case err != nil:
		return 0, fmt.Errorf("%s is no amount; write 1700000, 1.7M or 85k, with at most six decimal places", capcli.Quoted(s))
	case u > maxMoney/capcli.USD(times):
		return 0, fmt.Errorf("%s is more than a trillion", capcli.Quoted(s))
	}
	return u * capcli.USD(times), nil
}

// maxMoney is the largest amount that a file may name.
const maxMoney = 1_000_000_000_000 * capcli.Dollar

// share reads a share such as 28% or 0.28 and stores millionths.
func share(dst *int64) strict.Reader {
	return strict.Value(dst, "a share such as 28%", "a share of 0 to 100%, such as 28% or 0.28", parseShare)
}

// parseShare returns a share in millionths. It reports false where the text is none.
func parseShare(s string) (int64, bool) {
	digits, percent := strings.CutSuffix(s, "%")
	v, err := capcli.ParseUSD(strings.TrimSpace(digits)) // ParseUSD reads a decimal in millionths
	if percent {
		v /= 100
	}
	return int64(v), err == nil && v <= allUpfront
}

// spotStep is a spot price being read.
type spotStep struct {
	billing.SpotPrice
	instance string
	price    Price
}

var spotSection = strict.Section[spotStep]{Name: "spot_prices", Needs: []string{"at", "price"}, Fields: func(s *spotStep) []strict.Field {
	return append(skuFields(&s.SKU, &s.instance), strict.Field{"at", "from then on", instantOf(&s.At)}, strict.Field{"price", "of a unit for an hour", price(&s.price)})
}}

// spotPrices reads steps of spot prices and puts them in order of time.
func spotPrices(dst *[]billing.SpotPrice) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		var steps []spotStep
		spotSection.List(&steps, maxSpotPrices, "spot prices")(d, n)
		for _, s := range steps {
			if s.SKU.Family == "" && s.SKU.Size == "" {
				s.SKU.Family, s.SKU.Size = billing.CutInstanceType(s.instance)
			}
			s.Price = s.price.Rate
			*dst = append(*dst, s.SpotPrice)
		}
		slices.SortStableFunc(*dst, func(a, b billing.SpotPrice) int { return cmp.Compare(a.At, b.At) })
	}
}

const maxSpotPrices = 100_000

// instantOf reads a date or an instant in RFC 3339.
func instantOf(dst *capcli.Time) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if s, ok := d.ReadScalar(n, "a date such as 2027-01-31"); ok {
			if at, _, ok := instant(d, n, 0, s); ok {
				*dst = at
			}
		}
	}
}

// lastDay reads the end of a term. A date is included in the term; an instant is its end.
func lastDay(dst *capcli.Time) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if s, ok := d.ReadScalar(n, "a date such as 2027-12-31"); ok {
			if at, day, ok := instant(d, n, 0, s); ok {
				if day {
					at += capcli.Time(capcli.Day)
				}
				*dst = at
			}
		}
	}
}

// addTerm returns the end of a term that begins at start: 1y, 6mo, 45d, 2w.
func addTerm(start capcli.Time, text string) capcli.Time {
	i := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.Atoi(text[:i])
	if err != nil {
		return capcli.NoTime
	}
	t := start.Std()
	switch strings.TrimSpace(text[i:]) {
	case "y", "yr":
		t = addMonths(t, 12*n)
	case "mo":
		t = addMonths(t, n)
	case "w":
		t = t.Add(time.Duration(n) * 7 * 24 * time.Hour)
	default:
		t = t.Add(time.Duration(n) * 24 * time.Hour)
	}
	return capcli.TimeOf(t)
}

// addMonths adds calendar months. If the month has no such day, it returns the last day of the
// month.
func addMonths(t time.Time, n int) time.Time {
	first := t.AddDate(0, n, 1-t.Day())
	return first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1)
}

// skuFields returns the fields that identify what is used.
func skuFields(s *billing.SKU, instance *string) []strict.Field {
	return []strict.Field{
		{"provider", "aws, azure, gcp", strict.Name(&s.Provider)},
		{"region", "", strict.Name(&s.Region)},
		{"zone", "", strict.Name(&s.Zone)},
		{"instance_type", "p5.48xlarge: family and size", strict.Name(instance)},
		{"family", "p5", strict.Name(&s.Family)},
		{"size", "48xlarge", strict.Name(&s.Size)},
		{"gpu_model", "H100", strict.Name(&s.GPUModel)},
		{"service", "ec2, fargate", strict.Name(&s.Service)},
		{"os", "linux, windows, rhel, suse", strict.Name(&s.OS)},
	}
}

// Line returns the line of commitment i in the file; 0 if there is none.
func (p *Portfolio) Line(i int) int {
	if i < 0 || i >= len(p.lines) {
		return 0
	}
	return p.lines[i]
}
