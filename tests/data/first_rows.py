"""First rows of files as people have them, with some rows below, and whether each is a header."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class FirstRow(NamedTuple):
    role: str
    first: str
    below: list[str]
    is_header: bool

    def write(self, folder: Path) -> Path:
        """Write the file, and return its path."""
        path = folder / f"{self.role}.{'csv' if ',' in self.first or ';' in self.first else 'txt'}"
        path.write_text("".join(f"{line}\n" for line in (self.first, *self.below)), encoding="utf-8")
        return path

    def ids(self) -> list[str]:
        """Return the ids that other files have: those of all rows of data."""
        at = 1 if self.first.startswith("category,") else 0
        rows = self.below if self.is_header else [self.first, *self.below]
        delimiter = next((sign for sign in ",;\t" if sign in self.first), None)
        return [next(csv.reader([row], delimiter=delimiter or "\t"))[at] for row in rows]


PRODUCTS = ["P93221,P10042", "P10042,P55311", "P55311,P20871", "P20871,P93221"]
GENES = ["TP53 MDM2", "MDM2 BRCA1", "BRCA1 RAD51", "RAD51 TP53"]
PEOPLE = ["anna,ben", "ben,carla", "carla,dieter", "dieter,anna"]
NUMBERS = ["17,42", "42,99", "99,17"]
TEXTS = ["P1,red garden chair", "P2,blue garden table", "P3,red kitchen table"]
ACCOUNTS = ["DE89-01;DE89-02", "DE89-02;DE89-03", "DE89-03;DE89-01"]


def _with(rows: list[str], *cells: str) -> list[str]:
    """Return the rows with one more column, of which `cells` are repeated."""
    delimiter = next((sign for sign in ",;\t " if sign in rows[0]), ",")
    return [f"{row}{delimiter}{cells[k % len(cells)]}" for k, row in enumerate(rows)]


EDGE_HEADERS: list[tuple[str, list[str]]] = [
    ("src,dst", PEOPLE),
    ("source,target", PEOPLE),
    ("Source;Target;Type;Weight", [f"{row};Undirected;2" for row in ACCOUNTS]),
    ("product_a,product_b", PRODUCTS),
    ("product_a,product_b,times_bought_together", _with(PRODUCTS, "3", "1", "12")),
    ("gene1 gene2", GENES),
    ("gene_1\tgene_2\tscore", ["TP53\tMDM2\t0.9", "MDM2\tBRCA1\t0.4"]),
    ("protein1 protein2 combined_score", ["9606.ENSP00000000233 9606.ENSP00000379496 155"] * 2),
    ("protein1 protein2", ["P04637 Q00987", "Q00987 P38398"]),
    ("citing,cited", ["W2001,W1999", "W1999,W1777"]),
    ("citing_paper,cited_paper", ["hep-th/9901,hep-th/9702", "hep-th/9702,hep-th/9503"]),
    ("head,relation,tail", ["/m/027rn,/location/capital,/m/06cx9", "/m/06cx9,/people/born,/m/017dcd"]),
    ("subject,predicate,object", ["Berlin,capital_of,Germany", "Paris,capital_of,France"]),
    ("from,to", PEOPLE),
    ("From,To,Weight", _with(PEOPLE, "2")),
    ("from_account,to_account,amount", ["A1,A2,99.50", "A2,A3,10.00"]),
    ("date,from_account,to_account,amount", ["2024-01-01,A1,A2,99.50", "2024-01-02,A2,A3,10.00"]),
    ("node1,node2", PEOPLE),
    ("u,v", PEOPLE),
    ("id1,id2", PEOPLE),
    ("id_1,id_2", NUMBERS),
    ("x_a,x_b", PEOPLE),
    ("SourceID,TargetID", ["N-1,N-2", "N-2,N-3"]),
    ("source_id target_id", ["a b", "b c"]),
    ("FromNodeId\tToNodeId", ["0\t11342", "0\t824020"]),
    ("person,friend", PEOPLE),
    ("user_id,friend_id", NUMBERS),
    ("user_id,item_id,rating", ["u8,i3,5", "u9,i4,2"]),
    ("follower,followee", PEOPLE),
    ("sender,recipient,count", _with(PEOPLE, "4")),
    ("author1,author2,papers", ["J. Smith,K. Lee,3", "K. Lee,A. Wu,1"]),
    ("station_a,station_b,minutes", ["Bank,Monument,2", "Monument,Tower Hill,3"]),
    ("origin,destination,passengers", ["JFK,LAX,200", "LAX,SFO,90"]),
    ("origin_airport dest_airport", ["JFK LAX", "LAX SFO"]),
    ("Official Symbol Interactor A\tOfficial Symbol Interactor B", ["MAP2K4\tFLNC", "MYPN\tACTN2"]),
    ("customer,product", ["C1,apple", "C2,pear"]),
    ("movie,actor", ["Alien,Sigourney Weaver", "Heat,Al Pacino"]),
    ("drug_id,disease_id", ["DB001,D003", "DB002,D004"]),
    ("word1,word2,cooccurrences", ["dog,cat,12", "cat,mouse,3"]),
    ("parent,child", PEOPLE),
    ('"product a","product b"', ['"P 1","P 2"', '"P 2","P 3"']),
    (",src,dst", ["0,a,b", "1,b,c"]),
    ("Unnamed: 0,person,friend", ["0,anna,ben", "1,ben,carla"]),
    ("#node1 node2", ["a b", "b c"]),
    ("\ufeffproduct_a,product_b", PRODUCTS),
    ("account_from;account_to;amount;date", ["A1;A2;5;2024-01-01", "A2;A3;7;2024-01-02"]),
    ("Quelle;Ziel;Gewicht", ["a;b;1", "b;c;2"]),
    ("von;nach", ["Berlin;Hamburg", "Hamburg;Kiel"]),
    ("foo,bar", NUMBERS),
    ("knoten_eins,knoten_zwei", NUMBERS),
    ("alpha,beta,since", _with(PEOPLE, "2019-04-01", "2020-01-31")),
    ("src_ip,dst_ip", ["10.0.0.1,10.0.0.7", "10.0.0.7,192.168.1.1"]),
    ("Buyer,Seller,Amount,Date", ["B1,S1,5.0,2024-01-01", "B2,S2,7.5,2024-01-02"]),
    ("e-mail 1,e-mail 2", ["a@x.org,b@x.org", "b@x.org,c@x.org"]),
    ("caller,callee,calls", ["main,init,1", "init,load,2"]),
    ("tf\ttarget", ["MYC\tCDK4", "E2F1\tCCNE1"]),
    ("bait,prey,spectral_count", ["CDK1,CCNB1,30", "CDK2,CCNE1,12"]),
]
EDGE_ROWS: list[tuple[str, list[str]]] = [
    ("anna,ben", PEOPLE[1:]),
    ("TP53 BRCA1", GENES),
    ("BRCA1 BRCA2", ["TP53 MDM2", "MDM2 RAD51", "RAD51 ATM"]),
    ("CDK1\tCDK2", ["TP53\tMDM2", "MYC\tMAX"]),
    ("P04637 Q00987", ["Q00987 P38398", "P38398 O15350"]),
    ("P12345,P12346", ["Q9Y6K9,O00221", "O00221,P25963"]),
    ("u v", ["v w", "w u"]),
    ("from to", ["to via", "via from"]),
    ("node,alice", ["alice,bob", "bob,carol"]),
    ("id,alice", ["alice,bob", "bob,id"]),
    ("1999,2001", ["2001,2003", "2003,1999"]),
    ("2024-01-01,2024-01-02", ["2024-01-02,2024-01-03"]),
    ("1 alice", ["2 bob", "3 carol"]),
    ("alice 1", ["bob 2", "carol 1"]),
    ("alice,bob,2", ["bob,carol,1", "carol,alice,1"]),
    ("user_1,user_2", ["user_2,user_3", "user_3,user_7"]),
    ("user_1,item_2", ["user_5,item_7", "user_9,item_1"]),
    ("node1 node2", ["node3 node4", "node5 node1"]),
    ("a@x.org,b@x.org", ["b@x.org,c@x.org", "c@x.org,a@x.org"]),
    ('"Smith, J.","Lee, K."', ['"Lee, K.","Wu, A."', '"Wu, A.","Smith, J."']),
    ("dog,cat", ["mouse,cheese", "horse,cow", "hen,egg"]),
    ("Berlin;Hamburg", ["Hamburg;Kiel", "Kiel;Berlin"]),
    ("x_a,x_b", ["y_a,y_b", "z_a,z_b"]),
    ("0 1", ["1 2", "2 0"]),
    ("/m/027rn,/m/06cx9", ["/m/06cx9,/m/017dcd"]),
    ("main.c,util.c", ["util.c,list.c", "io.c,list.c"]),
    ("exim4 libc6", ["mutt libc6", "bash libc6"]),
    ("source,sink", ["sink,drain", "drain,source"]),
    ("007,a b", ["a b,c", "c,007"]),
    ("ENSP00000000233 ENSP00000379496", ["ENSP00000379496 ENSP00000000412"]),
    ("Alien,Sigourney Weaver", ["Heat,Al Pacino", "Heat,Robert De Niro"]),
    ("http://a.org/,http://b.org/", ["http://b.org/,http://c.org/"]),
]
OTHER_HEADERS: list[tuple[str, str, list[str]]] = [
    ("labels", "node,label", ["a,red", "b,blue"]),
    ("labels", "product_id,category", ["P1,garden", "P2,kitchen", "P3,garden"]),
    ("labels", "id,class", ["P1,garden", "P2,kitchen"]),
    ("labels", "name,team", ["anna,red", "ben,blue"]),
    ("labels", "paper,subject", ["W1,physics", "W2,biology"]),
    ("labels", "foo,bar", ["W1,physics", "W2,biology"]),
    ("labels", "gene_id\tpathway", ["TP53\tapoptosis", "MYC\tgrowth"]),
    ("labels", "account_id,is_fraud", ["A1,0", "A2,1"]),
    ("labels", "user_id,age,team", ["17,33,red", "18,40,blue"]),
    ("labels", "category,product_id", ["garden,P1", "kitchen,P2"]),
    ("labels", "person,club,city", ["anna,FCB,Berlin", "ben,HSV,Kiel"]),
    ("labels", ",label", ["a,red", "b,blue"]),
    ("labels", "account,country", ["A1,DE", "A2,FR"]),
    ("features", "account,country,night_share", ["A1,DE,0.4", "A2,FR,0.1"]),
    ("features", "node,x,y", ["a,1,2", "b,3,4"]),
    ("features", "person,0,1", ["anna,0.5,2", "ben,0.1,4"]),
    ("features", "person,age,income", ["anna,33,1000", "ben,40,1500"]),
    ("features", ",0,1,2", ["a,1,2,3", "b,2,3,4"]),
    ("features", "country,2019,2020,2021", ["DE,1.5,2.5,2", "FR,3,4.1,4"]),
    ("features", "person,city,job", ["anna,Berlin,nurse", "ben,Kiel,nurse"]),
    ("features", "Unnamed: 0,age", ["a,1", "b,2"]),
    ("features", "user_id;alter;umsatz", ["u1;33;1.5", "u2;40;2.5"]),
    ("text", "product_id,description", TEXTS),
    ("text", "id,text", TEXTS),
    ("text", "sku\ttitle\tbody", [text.replace(",", "\tA\t") for text in TEXTS]),
    ("text", "paper,abstract", TEXTS),
    ("text", "artikel,beschreibung", TEXTS),
    ("nodes", "node", ["a", "b", "z"]),
    ("nodes", "product_id", ["P1", "P2", "P3"]),
    ("nodes", "id,type", ["a,person", "b,person"]),
    ("nodes", "person", ["17", "18", "19"]),
    ("nodes", "UserID", ["u1", "u2"]),
]
OTHER_ROWS: list[tuple[str, str, list[str]]] = [
    ("labels", "anna,red", ["ben,blue", "carla,red"]),
    ("labels", "node,red", ["alice,red", "bob,blue"]),
    ("labels", "id,red", ["alice,blue", "bob,red"]),
    ("labels", "1,red", ["2,blue", "3,red"]),
    ("labels", "TP53,oncogene", ["MYC,oncogene", "RB1,suppressor"]),
    ("labels", "P1,1", ["P2,2", "P3,1"]),
    ("labels", "P1,unknown", ["P2,2", "P3,1"]),
    ("features", "anna,1,2", ["ben,3,4", "carla,5,6"]),
    ("features", "x,0,1", ["y,3,4", "z,5,6"]),
    ("features", "7,0.5", ["8,0.25", "9,1.5"]),
    ("text", "P1,red garden chair", TEXTS[1:]),
    ("text", "name,the name of a thing", TEXTS),
    ("nodes", "anna", ["ben", "carla"]),
    ("nodes", "person", ["dog", "cat", "house"]),
    ("nodes", "1", ["2", "3"]),
]
FIRST_ROWS = [
    *(FirstRow("edges", first, below, is_header=True) for first, below in EDGE_HEADERS),
    *(FirstRow("edges", first, below, is_header=False) for first, below in EDGE_ROWS),
    *(FirstRow(role, first, below, is_header=True) for role, first, below in OTHER_HEADERS),
    *(FirstRow(role, first, below, is_header=False) for role, first, below in OTHER_ROWS),
]
