package billing

// AzureReservation is Azure's reserved VM instance: use it or lose it hour by
// hour, filled across all matching machines of the hour, the narrower scope
// first and before any savings plan. Paying by the month costs as much as
// paying at once. It never covers spot. Refunds are bounded for an owner in any
// 12 months: see Escape.Limit.
//
// Source: Microsoft Learn, "How a reservation discount is applied to virtual
// machines" and "Self-service exchanges and refunds for Azure Reservations".
type AzureReservation struct {
	Units int64 // thousandths of a machine
}

// Name gives the product's name.
func (AzureReservation) Name() string { return "azure_reservation" }

func (p AzureReservation) check(*Commitment) string { return wantUnits(p.Units) }

func (p AzureReservation) power(*Commitment) int64 { return p.Units }

func (p AzureReservation) cover(c *Commitment, b *bucket) (claim, bool) {
	k, ok := coverUnits(c, b, stageReserved)
	k.order.narrow = c.Scope.narrowness()
	return k, ok
}
