// The table of operations (operations.h). Numbers and shapes as Nix's daemon.cc reads and writes
// them, 2.8.0 and 2.26.3, at 1.34; which of them clients send, as their remote-store.cc has it.
#include "operations.h"

// What the daemon tells of a valid path, its own name not included (path-info.cc of 2.8): deriver,
// hash, references, time, size, ultimate, signatures, content address.
#define PATH_INFO "sslrnnls"

#define PASS(number, name, request, reply)                             \
	{                                                              \
		number, #name, request, reply, POLICY_PASS, NULL, NULL \
	}
#define DO(number, name, request, reply, policy)                           \
	{                                                                  \
		number, #name, request, reply, POLICY_##policy, NULL, NULL \
	}
#define REFUSE(number, name, request, asked, why)                       \
	{                                                               \
		number, #name, request, NULL, POLICY_REFUSE, asked, why \
	}

#define OBSOLETE "no client of this version of the protocol asks that"
#define OTHERS "it would show what other sessions have added; ask for paths by name"
#define COPIES                                                                                   \
	"sessions add what an evaluation makes and small files of their own (nix-store --add); " \
	"a finished object comes from the channel or a cache that the administrator trusts"
#define ADMINISTRATOR "the store is everybody's, and the administrator looks after it"

// clang-format off
const struct operation operations[] = {
	PASS(1, IsValidPath, "p", "n"),
	// Its flag has the daemon fetch what is missing from caches that it trusts.
	PASS(31, QueryValidPaths, "Pb", "l"),
	PASS(26, QueryPathInfo, "p", "?" PATH_INFO),
	PASS(40, QueryMissing, "D", "lllnn"),
	PASS(32, QuerySubstitutablePaths, "P", "l"),
	PASS(30, QuerySubstitutablePathInfos, "[pC]", "[sslnn]"),
	PASS(29, QueryPathFromHashPart, "H", "s"),
	PASS(OPERATION_QUERY_DERIVATION_OUTPUT_MAP, QueryDerivationOutputMap, "p", "[ss]"),
	PASS(43, QueryRealisation, "O", "l"),
	PASS(OPERATION_ADD_TEMP_ROOT, AddTempRoot, "p", "n"),
	// Fetches from caches that the daemon trusts, and never builds (entry-points.cc).
	PASS(OPERATION_ENSURE_PATH, EnsurePath, "p", "n"),

	DO(7, AddToStore, "NMPbF", "s" PATH_INFO, ADD),
	DO(9, BuildPaths, "Dn", "n", BUILD),
	DO(46, BuildPathsWithResults, "Dn", "[snsnnnn[ss]]", BUILD),
	DO(19, SetOptions, "nnnnnnnnnnnn[ss]", "", SETTINGS),
	// nix-build asks it for the link `result`. Said to be done, since the link is made by the client
	// and is of use as it is; what it points to is the channel's and kept by it. As a root it would
	// keep things past the session's end, and have root follow links of the session's.
	DO(12, AddIndirectRoot, "s", "n", PRETEND),
	// A relic: the daemon does nothing either.
	DO(13, SyncWithGC, "", "n", PRETEND),

	REFUSE(20, CollectGarbage, "nPbnnnn", "removing anything from the store",
	       "other sessions may be about to use it; the administrator collects garbage"),
	REFUSE(14, FindRoots, "", "listing what keeps objects in the store",
	       "it would show what runs outside this session"),
	REFUSE(34, OptimiseStore, "", "optimising the store", ADMINISTRATOR),
	REFUSE(35, VerifyStore, "bb", "verifying or repairing the store", ADMINISTRATOR),
	REFUSE(47, AddPermRoot, "ps", "making a garbage collector root",
	       "nothing of a session's outlives it; within it, what it uses is kept"),
	REFUSE(37, AddSignatures, "pl", "signing an object",
	       "whom to trust is for the administrator to say"),
	REFUSE(39, AddToStoreNar, "ppslnnblsbbF", "copying an object into the store", COPIES),
	REFUSE(44, AddMultipleToStore, "bbF", "copying objects into the store", COPIES),
	REFUSE(27, ImportPaths, "", "importing objects into the store", COPIES),
	REFUSE(42, RegisterDrvOutput, "s", "registering the output of a derivation",
	       "what a derivation has made is for the daemon to say"),
	REFUSE(45, AddBuildLog, "sF", "adding a build log", "sessions build nothing"),
	REFUSE(36, BuildDerivation, "p[ssss]Pssl[ss]n", "building a derivation that is not in the store",
	       "sessions build nothing but what the channel has; use its packages"),
	REFUSE(38, NarFromPath, "p", "reading an object through the daemon",
	       "the store is there to be read: use its files"),
	REFUSE(16, ExportPath, "pn", "exporting an object",
	       "the store is there to be read: use its files"),
	REFUSE(6, QueryReferrers, "p", "asking who refers to an object", OTHERS),
	REFUSE(33, QueryValidDerivers, "p", "asking what an object was made from", OTHERS),
	REFUSE(23, QueryAllValidPaths, "", "listing the store", OTHERS),
	// Clients write the text of a derivation by AddToStore, at this version.
	REFUSE(8, AddTextToStore, "ssP", "adding text in the old way", OBSOLETE),
	REFUSE(3, HasSubstitutes, "p", "asking for a cache's copy in the old way", OBSOLETE),
	REFUSE(21, QuerySubstitutablePathInfo, "p", "asking for a cache's copy in the old way", OBSOLETE),
	REFUSE(4, QueryPathHash, "p", "asking for a hash in the old way", OBSOLETE),
	REFUSE(5, QueryReferences, "p", "asking for references in the old way", OBSOLETE),
	REFUSE(18, QueryDeriver, "p", "asking for a deriver in the old way", OBSOLETE),
	REFUSE(22, QueryDerivationOutputs, "p", "asking for outputs in the old way", OBSOLETE),
	REFUSE(28, QueryDerivationOutputNames, "p", "asking for outputs in the old way", OBSOLETE),
	REFUSE(24, QueryFailedPaths, "", "asking for failed builds", OBSOLETE),
	REFUSE(25, ClearFailedPaths, "l", "forgetting failed builds", OBSOLETE),
};
// clang-format on

const size_t operation_count = sizeof(operations) / sizeof(operations[0]);

const struct operation *operation_find(uint64_t number)
{
	for (size_t i = 0; i < operation_count; i++) {
		if (operations[i].number == number)
			return &operations[i];
	}
	return NULL;
}
