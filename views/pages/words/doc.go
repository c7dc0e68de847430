// Package words says in a few words what pages of several areas show: a request in one line, by its title or its kind;
// a conversation by its name; who voted and for whom; a notification channel.
//
// What others wrote is revealed and cut here, once (I13): ByWhom, OneLine and Summary fit into any sentence. Object,
// Text and Scalar read one member of JSON that was stored as it was sent. Nothing here knows a page; a word that only
// one area says belongs there.
package words
