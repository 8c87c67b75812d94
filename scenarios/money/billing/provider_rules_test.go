package billing

import (
	"errors"
	"strings"
	"testing"

	"capcli"
)

// The least time that providers bill applies by provider, where their document
// says so, and not where a line states its own.
func TestLeastTimeBilledByProvider(t *testing.T) {
	for _, tt := range []struct {
		name, columns, cells string
		want                 capcli.USD // of 20 s at 180 $/h: a dollar in 20 s
		noted                bool
	}{
		{"aws", "provider", "aws", 3e6, true},
		{"gcp", "provider", "gcp", 3e6, true},
		{"azure", "provider", "azure", 3e6, true},
		{"aws windows", "provider,os", "aws,windows", 3e6, true},
		{"aws suse", "provider,os", "aws,suse", 1e6, false},
		{"another", "provider", "lambda", 1e6, false},
		{"none named", "zone", "a", 1e6, false},
		{"stated", "provider,min_billing_s", "aws,0", 1e6, false},
		{"stated longer", "provider,min_billing_s", "coreweave,40", 2e6, false},
		{"spot", "provider,kind,spot_price", "aws,spot,90", 1_500_000, true},
	} {
		text := "start,seconds,price," + tt.columns + "\n2027-01-01T00:00:00Z,20,180," + tt.cells + "\n"
		rec, rep, err := ReadUse("use.csv", strings.NewReader(text), UseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := rec.Hours(false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := h.Bill(&Portfolio{}, InAll)
		if err != nil {
			t.Fatal(err)
		}
		noted := strings.Contains(strings.Join(rep.Notes, "\n"), "1 lines last less than their provider bills at least")
		if b.Total.Effective != tt.want || noted != tt.noted {
			t.Errorf("%s: got %s, noted %v, want %s, %v", tt.name, b.Total.Effective.Decimal(), noted, tt.want.Decimal(), tt.noted)
		}
	}
}

// Microsoft's own examples: a reservation of Standard_DS4_v2, ratio 8, at 1 $/h.
func TestAzureSizeFlexibility(t *testing.T) {
	run := func(size string, machines int64) UseLine {
		l := unit(size, 0, 1, 1000*machines)
		l.Price, l.SKU = 4_000_000, SKU{Provider: "azure", Family: size, Region: "eastus"}
		return l
	}
	own := []SizeRatio{{"Standard_NC24ads_A100_v4", 1}, {"Standard_NC48ads_A100_v4", 2}, {"Standard_NC96ads_A100_v4", 4}}
	for _, tt := range []struct {
		name    string
		size    string
		product AzureReservation
		lines   []UseLine
		paid    capcli.USD // on demand, beside the reservation
		unused  capcli.USD
	}{
		{"eight of ratio 1", "Standard_DS4_v2", AzureReservation{Units: 1000}, []UseLine{run("Standard_DS1_v2", 8)}, 0, 0},
		{"two of 2 and one of 4", "Standard_DS4_v2", AzureReservation{Units: 1000}, []UseLine{run("Standard_DS2_v2", 2), run("Standard_DS3_v2", 1)}, 0, 0},
		{"half of one of 16", "Standard_DS4_v2", AzureReservation{Units: 1000}, []UseLine{run("Standard_DS5_v2", 1)}, 2e6, 0},
		{"smallest first", "Standard_DS4_v2", AzureReservation{Units: 1000}, []UseLine{run("Standard_DS5_v2", 1), run("Standard_DS3_v2", 1)}, 3e6, 0},
		{"half unused", "Standard_DS4_v2", AzureReservation{Units: 1000}, []UseLine{run("Standard_DS3_v2", 1)}, 0, 500_000},
		{"another group", "Standard_DS4_v2", AzureReservation{Units: 1000}, []UseLine{run("Standard_DS11_v2", 1)}, 4e6, 1e6},
		{"for capacity", "Standard_DS4_v2", AzureReservation{Units: 1000, Rigid: true}, []UseLine{run("Standard_DS3_v2", 1)}, 4e6, 1e6},
		{"GPUs", "Standard_NC24s_v3", AzureReservation{Units: 1000}, []UseLine{run("Standard_NC6s_v3", 3)}, 0, 250_000},
		{"as the file states", "Standard_NC96ads_A100_v4", AzureReservation{Units: 500, Sizes: own}, []UseLine{run("Standard_NC24ads_A100_v4", 3)}, 4e6, 0},
		{"no group is known", "Standard_ND96isr_H100_v5", AzureReservation{Units: 2000}, []UseLine{run("Standard_ND96isr_H100_v5", 1)}, 0, 500_000},
	} {
		p := &Portfolio{Commitments: []Commitment{{
			ID: "r", Start: jan, End: jan + 3600, Scope: Scope{Family: tt.size, Region: "eastus"}, Fees: Fees{Hourly: 1_000_000}, Product: tt.product,
		}}}
		b := billOf(t, p, InAll, tt.lines...)
		if k := b.Commitments[0]; b.Total.Effective-1e6 != tt.paid || k.Unused != tt.unused || k.Used+k.Unused != 1e6 {
			t.Errorf("%s: paid %s, used %s, unused %s; want %s, unused %s", tt.name, (b.Total.Effective - 1e6).Decimal(), k.Used.Decimal(), k.Unused.Decimal(), tt.paid.Decimal(), tt.unused.Decimal())
		}
	}
	bad := Commitment{Scope: Scope{Family: "Standard_X"}}
	if text := (AzureReservation{Units: 1000, Sizes: own}).check(&bad); !strings.Contains(text, "not among the sizes") {
		t.Errorf("got %q", text)
	}
}

// Azure exchanges what was bought until February 2027, for no less than is left;
// a trade-in and a refund stay; exchanges do not count towards the limit.
func TestAzureExchangeWindow(t *testing.T) {
	const year = capcli.Time(365 * 86400)
	bought := func(at capcli.Time) *Portfolio {
		return &Portfolio{Commitments: []Commitment{{
			ID: "r", Start: at, End: at + year, Owner: "me", Scope: Scope{Provider: "azure"}, Fees: Fees{Upfront: 73_000e6},
			Product: AzureReservation{Units: 1000}, Escape: Escape{Every: capcli.Day, Refund: 1000, Limit: 50_000e6},
		}}}
	}
	with := func(at capcli.Time, product Product, cost capcli.USD) *Commitment {
		return &Commitment{ID: "n", Start: at, End: at + year, Scope: Scope{Provider: "azure"}, Fees: Fees{Upfront: cost}, Product: product}
	}
	plan := AzurePlan{Commit: 1_000_000, Rates: []PlanRate{{Discount: 100_000}}}
	before, after := azureLastExchange-86400, azureLastExchange
	for _, tt := range []struct {
		name string
		from capcli.Time
		days capcli.Time
		with func(at capcli.Time) *Commitment
		want string // of the error; "" is none
	}{
		{"in the window", before, 65, func(at capcli.Time) *Commitment { return with(at, AzureReservation{Units: 1000}, 60_000e6) }, ""},
		{"for less than is left", before, 65, func(at capcli.Time) *Commitment { return with(at, AzureReservation{Units: 1000}, 59_999e6) }, "Azure wants no less"},
		{"bought after it", after, 65, func(at capcli.Time) *Commitment { return with(at, AzureReservation{Units: 1000}, 60_000e6) }, "exchanges no reservation"},
		{"traded in after it", after, 65, func(at capcli.Time) *Commitment { return with(at, plan, 60_000e6) }, ""},
		{"for another product", before, 65, func(at capcli.Time) *Commitment { return with(at, ReservedCapacity{Units: 1000}, 60_000e6) }, "for another reservation"},
		{"refund over the limit", before, 65, func(capcli.Time) *Commitment { return nil }, "the limit is $50,000.00"},
		{"refund within it", after, 115, func(capcli.Time) *Commitment { return nil }, ""},
	} {
		at := tt.from + tt.days*86400
		_, refund, err := bought(tt.from).Rebalance("r", at, tt.with(at), nil)
		var escape *EscapeError
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (!errors.As(err, &escape) || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		case err == nil && refund.Cancelled != 73_000e6-200e6*capcli.USD(tt.days):
			t.Errorf("%s: cancelled %s", tt.name, refund.Cancelled.Decimal())
		}
	}
	past := []Refund{{At: before, Owner: "me", Provider: "azure", Amount: 40_000e6, Exchanged: true}}
	if _, _, err := bought(before).Rebalance("r", before+115*86400, nil, past); err != nil {
		t.Errorf("an exchange counts towards the limit of refunds: %v", err)
	}
}
