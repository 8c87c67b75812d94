// Package billing prices what a run recorded: who held which GPUs, when and on
// which terms. It never runs anything again, so one run can be priced under a
// thousand rates.
//
// The unit of account is the cell, one pool in one month. A product, the kind
// of contract that the pool is under, says what the cell costs and how much of
// that was for time nobody held. Every table of an invoice (by tier, terms,
// pool, month, tenant) is a sum over the same cells, each rounded once, so all
// tables add up to the invoice to the millionth of a dollar.
//
// A new product is one file with a charge method, and a line in productOf.
//
// # Portfolios
//
// Discounts are settled by the clock hour. A UseRecord is metered use, by the
// second; Hours gathers it (or, from a simulated run that kept them, OfRun
// does). A Portfolio of Commitments is laid over those hours: a Bill has every
// row and conserves what was paid, a Quoter gives the total alone, thousands of
// portfolios a second. The products are product_NAME.go, each with its rule and
// the provider's page that states it. PriceUnder prices a run whose on-demand
// pools have such discounts, and its tables still sum.
package billing
