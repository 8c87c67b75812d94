package billing_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// TestProducts holds every product of the catalogue to what all promise: its
// example is valid and named as it is entered, it covers use of its scope or what
// names it and nothing else, never spot, and its bill is its quote. The laws of
// bills are drawn over the same examples: see drawCommitment.
func TestProducts(t *testing.T) {
	for _, of := range billing.Products.All() {
		t.Run(of.Name, func(t *testing.T) {
			c := exampleAt(of, day0)
			if got := c.Product.Name(); got != of.Name || of.Doc == "" {
				t.Errorf("it is entered as %q, and calls itself %q", of.Name, got)
			}
			p := &billing.Portfolio{Commitments: []billing.Commitment{c}}
			if err := p.Check(); err != nil {
				t.Fatalf("its example is not valid: %v", err)
			}
			var wrong *billing.PortfolioError
			negative := *p
			negative.Commitments = []billing.Commitment{c}
			negative.Commitments[0].Fees.Upfront = -1
			if err := negative.Check(); !errors.As(err, &wrong) {
				t.Errorf("a negative fee is taken: %v", err)
			}
			family := "p5"
			if c.Scope.Family != "" {
				family = c.Scope.Family
			}
			use := billing.UseLine{Start: day0, Seconds: 7200, Units: 2000, SKU: billing.SKU{Family: family, Size: "large"}, Price: 3 * capcli.Dollar, Account: "x"}
			inside, spot, beside := use, use, use
			inside.Kind, inside.Capacity = billing.UseReserved, c.ID
			spot.Kind, spot.Spot = billing.UseSpot, capcli.Dollar
			beside.SKU.Family = "another"
			h, err := (&billing.UseRecord{From: day0, To: day0 + 4*hours, Lines: []billing.UseLine{use, inside, spot, beside}}).Hours(false)
			if err != nil {
				t.Fatal(err)
			}
			b, err := h.Bill(p, billing.ByHour)
			if err != nil {
				t.Fatal(err)
			}
			q, err := h.Quoter()
			if err != nil {
				t.Fatal(err)
			}
			quote, err := q.Quote(p)
			if err != nil || quote.Costs != b.Total {
				t.Errorf("the quote is %+v, %v, the bill %+v", quote.Costs, err, b.Total)
			}
			covers := false
			for _, r := range b.Rows {
				used := r.Status == billing.Used || r.ReservationStatus == billing.Used
				covers = covers || used
				switch {
				case used && r.Kind == billing.UseSpot:
					t.Errorf("spot use is covered: %+v", r)
				case used && c.Scope.Family != "" && r.SKU.Family == "another":
					t.Errorf("use out of its scope is covered: %+v", r)
				case used && r.Kind == billing.UseReserved && !billing.BringsCapacity(c.Product):
					t.Errorf("use in capacity is covered by a discount: %+v", r)
				}
			}
			if !covers {
				t.Error("it covers nothing of the use in its scope, nor what names it")
			}
		})
	}
}

// A product is one file: the package has no other place that must know its type.
func TestAProductIsOneFile(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	products := map[string]bool{}
	for _, of := range billing.Products.All() {
		products[strings.TrimPrefix(fmt.Sprintf("%T", of.Value.Product), "billing.")] = true
	}
	// A capacity reservation is filled by the second, by code of its own.
	own := map[string]string{"CapacityReservation": "early_exit.go"}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, other := n.(*ast.SelectorExpr); other {
				return false // simulate.Owned
			}
			if id, ok := n.(*ast.Ident); ok && products[id.Name] && !strings.HasPrefix(path, "product_") && !strings.Contains(own[id.Name], path) {
				t.Errorf("%s knows the product %s: make what it asks a small interface in product.go", path, id.Name)
			}
			return true
		})
	}
}
