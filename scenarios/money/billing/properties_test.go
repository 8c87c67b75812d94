package billing

import (
	"testing"

	"capcli"
)

// TestProductTable holds the row of every product against what the providers document, and against what
// the product does: one that covers applies to matching use wherever it runs, and no other does.
func TestProductTable(t *testing.T) {
	covers, place := capcli.Properties{Covers: true}, capcli.Properties{Guarantees: true, Fenced: true}
	want := map[string]capcli.Properties{
		"azure_reservation": covers, "azure_savings_plan": covers, "committed_use": covers, "flexible_use": covers, "minimum_spend": covers,
		"reserved_instance": covers, "savings_plan": covers, "capacity_reservation": {Guarantees: true},
		"owned": place, "reserved_capacity": place, "capacity_block": place,
		"night_rate": covers, // of this package's tests
	}
	for _, r := range productTable() {
		if p, known := want[r.product]; !known || p != r.Properties {
			t.Errorf("%s is %+v, want %+v; add a new product to this test", r.product, r.Properties, p)
		}
		delete(want, r.product)
	}
	for name := range want {
		t.Errorf("%s has no row", name)
	}
	for _, e := range Products.All() {
		c := e.Value
		b := bucket{sku: *c.Scope.sku(), list: 5 * capcli.Dollar, paid: 5 * capcli.Dollar}
		if _, applies := c.Product.cover(&c, &b); applies != c.Properties().Covers || BringsCapacity(c.Product) == applies {
			t.Errorf("%s applies to matching use: %v, and its row says covers: %v", e.Name, applies, c.Properties().Covers)
		}
	}
}

// TestProductOptions: a zone or a reservation guarantees, a target fences.
func TestProductOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Commitment
		want capcli.Properties
	}{
		{"zonal", Commitment{Product: ReservedInstance{Units: 1}, Scope: Scope{Zone: "a"}}, capcli.Properties{Covers: true, Guarantees: true}},
		{"with its reservation", Commitment{Product: CommittedUse{Units: 1, Reservation: "r"}}, capcli.Properties{Covers: true, Guarantees: true}},
		{"targeted", Commitment{Product: CapacityReservation{Units: 1, Targeted: true}}, capcli.Properties{Guarantees: true, Fenced: true}},
	} {
		if got := tt.c.Properties(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
